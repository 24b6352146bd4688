#include "core/config/toml_document.h"

#include <algorithm>
#include <sstream>
#include <toml.hpp>

namespace aflguard {
namespace {

template <typename Location>
std::size_t line_of(const Location& location) {
#if defined(TOML11_VERSION_MAJOR) && TOML11_VERSION_MAJOR >= 4
  return location.is_ok() ? location.first_line_number() : 0;
#else
  return location.line();
#endif
}

ConfigValue convert(const toml::value& from) {
  ConfigValue to;
  to.line = line_of(from.location());
  switch (from.type()) {
    case toml::value_t::boolean:
      to.value = from.as_boolean();
      break;
    case toml::value_t::integer:
      to.value = std::int64_t{from.as_integer()};
      break;
    case toml::value_t::floating:
      to.value = double{from.as_floating()};
      break;
    case toml::value_t::string:
      to.value = toml::get<std::string>(from);
      break;
    case toml::value_t::array: {
      ConfigValue::Array items;
      for (const auto& item : from.as_array()) items.push_back(convert(item));
      to.value = std::move(items);
      break;
    }
    case toml::value_t::table: {
      ConfigValue::Table entries;
      for (const auto& [key, value] : from.as_table()) entries.emplace(key, convert(value));
      to.value = std::move(entries);
      break;
    }
    default:
      to.value = ConfigValue::Other{"a date or a time"};
      break;
  }
  return to;
}

/// toml11 draws its errors over several lines; the first one says what is wrong.
std::string first_line(std::string_view text) {
  std::string line(text.substr(0, text.find('\n')));
  for (const std::string_view prefix : {"[error] ", "toml::"}) {
    if (line.starts_with(prefix)) line.erase(0, prefix.size());
  }
  return line;
}

}  // namespace

Result<ConfigValue> parse_toml(std::string_view text, const std::string& name) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\t' || c == '\n'; })) {
    return ConfigValue{ConfigValue::Table{}, 0};  // an empty file: toml11 3 calls it an error
  }
  try {
    std::istringstream in{std::string(text)};
    return convert(toml::parse(in, name));
  } catch (const toml::exception& error) {
#if defined(TOML11_VERSION_MAJOR) && TOML11_VERSION_MAJOR >= 4
    return invalid_input(name + ": not TOML: " + first_line(error.what()));
#else
    return invalid_input(name + ":" + std::to_string(line_of(error.location())) +
                         ": not TOML: " + first_line(error.what()));
#endif
  } catch (const std::exception& error) {
    return invalid_input(name + ": not TOML: " + first_line(error.what()));
  }
}

}  // namespace aflguard
