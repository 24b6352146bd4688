#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/aggregation/guard.h"
#include "core/base/named_options.h"
#include "core/base/result.h"

namespace aflguard {

/// What a guard is made from.
struct GuardSettings {
  std::size_t dimension = 0;  ///< d of the model
  std::uint64_t clients = 0;  ///< how many clients the fleet has; 0 when that is not known
  double lambda = 1.5;        ///< AFLGuard's tolerance
  OptionValues options{};     ///< the guard's own

  [[nodiscard]] double option(const std::string& name, double default_value) const {
    return option_or(options, name, default_value);
  }
};

/// A guard by name. Each guard's source offers its own; core/aggregation/guards/all_guards.h lists them.
struct GuardKind {
  std::string_view name;
  std::string_view summary;
  std::vector<NamedOption> options;
  std::function<std::unique_ptr<Guard>(const GuardSettings& settings)> make = {};
};

/// kInvalidInput, with the nearest name that exists, when `kinds` has no guard `name`.
[[nodiscard]] Result<const GuardKind*> find_guard(std::span<const GuardKind> kinds, std::string_view name);

/// Makes a guard after checking its settings: lambda positive, options known and within their range.
[[nodiscard]] Result<std::unique_ptr<Guard>> make_guard(const GuardKind& kind, const GuardSettings& settings);

}  // namespace aflguard
