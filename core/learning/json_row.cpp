#include "core/learning/json_row.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace aflguard {
namespace {

Result<std::string> cell_of(const nlohmann::json& value, const std::string& field) {
  if (value.is_null()) return std::string();
  if (value.is_string()) return csv_field(value.get<std::string>());
  if (value.is_boolean()) return std::string(value.get<bool>() ? "1" : "0");
  if (value.is_number()) return value.dump();
  return corrupt("field '" + field + "' is not a number or a text");
}

}  // namespace

std::string csv_field(std::string_view text) {
  std::string plain(text);
  // A field never spans lines, and a row without its end would swallow the next one.
  std::replace_if(
      plain.begin(), plain.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  if (plain.find_first_of(",;\"|") == std::string::npos && !plain.starts_with(' ') && !plain.ends_with(' '))
    return plain;
  std::string quoted = "\"";
  for (const char c : plain) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

Result<std::string> csv_row_of_json(std::string_view text, const std::vector<std::string>& fields) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() && !json.is_array()) return corrupt("the payload is not a JSON object or array");
  if (json.is_array() && json.size() != fields.size()) {
    return corrupt("the payload has " + std::to_string(json.size()) + " values, expected " +
                   std::to_string(fields.size()));
  }
  std::string row;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    std::string cell;
    if (json.is_array()) {
      TRY(cell, cell_of(json[i], fields[i]));
    } else if (const auto found = json.find(fields[i]); found != json.end()) {
      TRY(cell, cell_of(*found, fields[i]));
    }
    row += (i == 0 ? "" : ",") + cell;
  }
  return row;
}

}  // namespace aflguard
