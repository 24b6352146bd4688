#include "core/telemetry/json_reading.h"

#include <cmath>

#include "core/base/plain_text.h"
#include "core/base/rfc3339.h"

namespace aflguard {

std::optional<ReadJson> parse_message(std::string_view text, std::string_view schema) {
  ReadJson json = ReadJson::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  const ReadJson* found = find_field(json, "schema");
  if (found == nullptr || !found->is_string() || found->get_ref<const std::string&>() != schema) {
    return std::nullopt;
  }
  return json;
}

const ReadJson* find_field(const ReadJson& json, const char* key) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(key);
  return found == json.end() ? nullptr : &*found;
}

std::optional<double> as_number(const ReadJson* json) {
  if (json == nullptr || !json->is_number()) return std::nullopt;
  const auto value = json->get<double>();
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> as_count(const ReadJson* json) {
  if (json == nullptr || !json->is_number_unsigned()) return std::nullopt;
  return json->get<std::uint64_t>();
}

std::optional<WallTime> as_milliseconds(const ReadJson* json) {
  constexpr double kYear9999 = 253'402'300'799'000;
  const auto value = as_number(json);
  if (!value || *value < 0 || *value > kYear9999) return std::nullopt;
  return from_milliseconds(static_cast<std::int64_t>(*value));
}

std::optional<double> number_field(const ReadJson& json, const char* key) {
  return as_number(find_field(json, key));
}

std::optional<std::uint64_t> count_field(const ReadJson& json, const char* key) {
  return as_count(find_field(json, key));
}

bool true_field(const ReadJson& json, const char* key) {
  const ReadJson* found = find_field(json, key);
  return found != nullptr && found->is_boolean() && found->get<bool>();
}

std::string text_field(const ReadJson& json, const char* key, std::size_t limit) {
  const ReadJson* found = find_field(json, key);
  if (found == nullptr || !found->is_string()) return {};
  return plain_text(found->get_ref<const std::string&>(), limit);
}

std::optional<WallTime> time_field(const ReadJson& json, const char* key) {
  const ReadJson* found = find_field(json, key);
  if (found == nullptr || !found->is_string()) return std::nullopt;
  const auto parsed = parse_rfc3339(found->get_ref<const std::string&>());
  if (!parsed.ok()) return std::nullopt;
  return *parsed;
}

}  // namespace aflguard
