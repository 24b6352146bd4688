#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/aggregation/update_filter.h"
#include "core/base/result.h"

namespace aflguard {

/// What a filter is made from.
struct FilterSettings {
  std::size_t dimension = 0;              ///< d of the model
  std::uint64_t clients = 0;              ///< how many clients the fleet has; 0 when that is not known
  double lambda = 1.5;                    ///< AFLGuard's tolerance
  std::map<std::string, double> options;  ///< the filter's own, by name; missing ones take their default

  [[nodiscard]] double option(const std::string& name, double otherwise) const {
    const auto found = options.find(name);
    return found == options.end() ? otherwise : found->second;
  }
};

/// One option of a filter: name, default, allowed range and meaning.
struct FilterOption {
  std::string_view name;
  double otherwise = 0;
  double low = 0;
  double high = 0;
  std::string_view meaning;
};

/// A filter by name. Each filter's header offers its own; main() lists those that the program knows.
struct FilterKind {
  std::string_view name;
  std::string_view summary;
  std::vector<FilterOption> options;
  std::unique_ptr<UpdateFilter> (*make)(const FilterSettings& settings) = nullptr;
};

/// kInvalidInput, with the nearest name that exists, when `kinds` has no filter `name`.
[[nodiscard]] Result<const FilterKind*> find_filter(std::span<const FilterKind> kinds, std::string_view name);

/// Makes a filter after checking its settings: lambda positive, options known and within their range.
[[nodiscard]] Result<std::unique_ptr<UpdateFilter>> make_filter(const FilterKind& kind,
                                                                const FilterSettings& settings);

}  // namespace aflguard
