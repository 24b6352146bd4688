#include "core/aggregation/filter_kind.h"

#include <cmath>

#include "core/base/nearest_name.h"

namespace aflguard {
Result<const FilterKind*> find_filter(std::span<const FilterKind> kinds, std::string_view name) {
  std::vector<std::string_view> names;
  for (const FilterKind& kind : kinds) {
    if (kind.name == name) return &kind;
    names.push_back(kind.name);
  }
  return invalid_input(unknown_name("defense", name, names));
}

Result<std::unique_ptr<UpdateFilter>> make_filter(const FilterKind& kind, const FilterSettings& settings) {
  if (!(settings.lambda > 0) || !std::isfinite(settings.lambda)) {
    return invalid_input("lambda is " + std::to_string(settings.lambda) + ", it must be a positive number");
  }
  TRY_STATUS(check_options(kind.name, kind.options, settings.options));
  return kind.make(settings);
}

}  // namespace aflguard
