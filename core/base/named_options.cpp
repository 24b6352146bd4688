#include "core/base/named_options.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "core/base/nearest_name.h"

namespace aflguard {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace

Status check_options(std::string_view owner, std::span<const NamedOption> known, const OptionValues& values) {
  std::vector<std::string_view> names;
  for (const NamedOption& option : known) names.push_back(option.name);
  for (const auto& [name, value] : values) {
    const auto option = std::find_if(known.begin(), known.end(),
                                     [&name = name](const NamedOption& o) { return o.name == name; });
    if (option == known.end()) {
      return invalid_input(unknown_name("option of " + std::string(owner), name, names));
    }
    if (!(value >= option->low && value <= option->high)) {
      return invalid_input("option " + name + " of " + std::string(owner) + " is " + number(value) +
                           ", it must be from " + number(option->low) + " to " + number(option->high));
    }
  }
  return {};
}

OptionValues with_defaults(std::span<const NamedOption> known, OptionValues values) {
  for (const NamedOption& option : known) values.try_emplace(std::string(option.name), option.default_value);
  return values;
}

Result<OptionValues> parse_options(std::span<const std::string> pairs) {
  OptionValues values;
  for (const std::string& pair : pairs) {
    const auto equals = pair.find('=');
    char* end = nullptr;
    const double value = equals == std::string::npos ? 0 : std::strtod(pair.c_str() + equals + 1, &end);
    if (equals == std::string::npos || end == pair.c_str() + equals + 1 || *end != '\0') {
      return invalid_input("option '" + pair + "' is not of the form NAME=NUMBER");
    }
    values[pair.substr(0, equals)] = value;
  }
  return values;
}

}  // namespace aflguard
