#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/rfc3339.h"
#include "fleet/view/view_text.h"

namespace aflguard::message_json {

/// For the sources of this module that read JSON: every question has an answer, whatever the message holds.
using Json = nlohmann::json;

/// An object of that schema's family and number; none for anything else.
inline std::optional<Json> parse(std::string_view text, std::string_view schema) {
  Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  const auto found = json.find("schema");
  if (found == json.end() || !found->is_string() || found->get_ref<const std::string&>() != schema) {
    return std::nullopt;
  }
  return json;
}

inline const Json* find(const Json& json, const char* key) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(key);
  return found == json.end() ? nullptr : &*found;
}

inline std::optional<double> as_number(const Json* json) {
  if (json == nullptr || !json->is_number()) return std::nullopt;
  const auto value = json->get<double>();
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

inline std::optional<double> number(const Json& json, const char* key) {
  return as_number(find(json, key));
}

inline std::optional<std::uint64_t> count(const Json& json, const char* key) {
  const Json* found = find(json, key);
  if (found == nullptr || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

inline std::string text(const Json& json, const char* key, std::size_t limit = 160) {
  const Json* found = find(json, key);
  return found != nullptr && found->is_string()
             ? view::plain_text(found->get_ref<const std::string&>(), limit)
             : std::string();
}

inline std::optional<std::chrono::system_clock::time_point> time(const Json& json, const char* key) {
  const Json* found = find(json, key);
  if (found == nullptr || !found->is_string()) return std::nullopt;
  const auto parsed = parse_rfc3339(found->get_ref<const std::string&>());
  if (!parsed.ok()) return std::nullopt;
  return *parsed;
}

/// Milliseconds since 1970, within the years that calendars here can hold.
inline std::optional<std::chrono::system_clock::time_point> as_milliseconds(const Json* json) {
  constexpr double kYear9999 = 253'402'300'799'000;
  const auto value = as_number(json);
  if (!value || *value < 0 || *value > kYear9999) return std::nullopt;
  return std::chrono::system_clock::time_point(std::chrono::milliseconds(static_cast<std::int64_t>(*value)));
}

}  // namespace aflguard::message_json
