#include "core/aggregation/filter_kind.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/base/nearest_name.h"

namespace aflguard {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace

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
    return invalid_input("lambda is " + number(settings.lambda) + ", it must be a positive number");
  }
  std::vector<std::string_view> known;
  for (const FilterOption& option : kind.options) known.push_back(option.name);
  for (const auto& [name, value] : settings.options) {
    const auto option = std::find_if(kind.options.begin(), kind.options.end(),
                                     [&name](const FilterOption& o) { return o.name == name; });
    if (option == kind.options.end()) {
      return invalid_input(unknown_name("option of " + std::string(kind.name), name, known));
    }
    if (!(value >= option->low && value <= option->high)) {
      return invalid_input("option " + name + " of " + std::string(kind.name) + " is " + number(value) +
                           ", it must be from " + number(option->low) + " to " + number(option->high));
    }
  }
  return kind.make(settings);
}

}  // namespace aflguard
