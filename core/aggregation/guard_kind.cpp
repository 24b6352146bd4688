#include "core/aggregation/guard_kind.h"

#include <cmath>

#include "core/base/nearest_name.h"

namespace aflguard {
Result<const GuardKind*> find_guard(std::span<const GuardKind> kinds, std::string_view name) {
  std::vector<std::string_view> names;
  for (const GuardKind& kind : kinds) {
    if (kind.name == name) return &kind;
    names.push_back(kind.name);
  }
  return invalid_input(unknown_name("guard", name, names));
}

Result<std::unique_ptr<Guard>> make_guard(const GuardKind& kind, const GuardSettings& settings) {
  if (!(settings.lambda > 0) || !std::isfinite(settings.lambda)) {
    return invalid_input("lambda is " + std::to_string(settings.lambda) + ", it must be a positive number");
  }
  TRY_STATUS(check_options(kind.name, kind.options, settings.options));
  return kind.make(settings);
}

}  // namespace aflguard
