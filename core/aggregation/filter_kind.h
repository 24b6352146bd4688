#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/aggregation/update_filter.h"
#include "core/base/named_options.h"
#include "core/base/result.h"

namespace aflguard {

/// What a filter is made from.
struct FilterSettings {
  std::size_t dimension = 0;  ///< d of the model
  std::uint64_t clients = 0;  ///< how many clients the fleet has; 0 when that is not known
  double lambda = 1.5;        ///< AFLGuard's tolerance
  OptionValues options;       ///< the filter's own

  [[nodiscard]] double option(const std::string& name, double otherwise) const {
    return option_or(options, name, otherwise);
  }
};

/// A filter by name. Each filter's header offers its own; main() lists those that the program knows.
struct FilterKind {
  std::string_view name;
  std::string_view summary;
  std::vector<NamedOption> options;
  std::unique_ptr<UpdateFilter> (*make)(const FilterSettings& settings) = nullptr;
};

/// kInvalidInput, with the nearest name that exists, when `kinds` has no filter `name`.
[[nodiscard]] Result<const FilterKind*> find_filter(std::span<const FilterKind> kinds, std::string_view name);

/// Makes a filter after checking its settings: lambda positive, options known and within their range.
[[nodiscard]] Result<std::unique_ptr<UpdateFilter>> make_filter(const FilterKind& kind,
                                                                const FilterSettings& settings);

}  // namespace aflguard
