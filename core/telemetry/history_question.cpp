#include "core/telemetry/history_question.h"

#include "core/base/identifier.h"
#include "core/base/short_text.h"
#include "core/telemetry/json_writing.h"
#include "core/telemetry/schemas.h"

namespace aflguard {
namespace {

constexpr std::int64_t kYear9999Ms = 253'402'300'800'000;
/// Of a value that is wrong, in the message that says so.
constexpr std::size_t kShownValue = 40;

Result<std::string> needed_text(const OrderedJson& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) {
    return invalid_input(std::string("'") + key + "' must be a text");
  }
  return found->get<std::string>();
}

Result<std::int64_t> needed_integer(const OrderedJson& json, const char* key, std::int64_t low,
                                    std::int64_t high) {
  const auto found = json.find(key);
  const bool whole = found != json.end() && found->is_number_integer();
  // An unsigned number above the signed range would wrap when it is taken as one.
  const bool fits = whole && (!found->is_number_unsigned() ||
                              found->get<std::uint64_t>() <= static_cast<std::uint64_t>(kYear9999Ms));
  if (fits) {
    const auto value = found->get<std::int64_t>();
    if (value >= low && value <= high) return value;
  }
  return invalid_input(
      std::string("'") + key + "' must be a whole number from " + std::to_string(low) + " to " +
      std::to_string(high) +
      (found == json.end() ? ", and is missing" : ", and is " + shortened(json_text(*found), kShownValue)));
}

Result<HistoryQuestion> read_fields(const OrderedJson& json, const std::string& id) {
  HistoryQuestion question;
  question.id = id;
  TRY(const std::string schema, needed_text(json, "schema"));
  if (schema != kHistoryQuestionSchema) {
    return invalid_input("'schema' is '" + shortened(schema, kShownValue) + "', this gateway knows " +
                         std::string(kHistoryQuestionSchema));
  }
  TRY(const std::string series, needed_text(json, "series"));
  if (series == "device") {
    TRY(question.device, needed_text(json, "device"));
    if (!is_identifier(question.device)) {
      return invalid_input("'device' is '" + shortened(question.device, kShownValue) +
                           "', which is not a device's name");
    }
  } else if (series != "fleet") {
    return invalid_input("'series' is '" + shortened(series, kShownValue) + "', must be fleet or device");
  }
  TRY(question.from_ms, needed_integer(json, "from_ms", 0, kYear9999Ms));
  TRY(question.to_ms, needed_integer(json, "to_ms", 0, kYear9999Ms));
  if (question.from_ms >= question.to_ms) return invalid_input("'to_ms' must be above 'from_ms'");
  TRY(question.points, needed_integer(json, "points", 1, kMaxHistoryPoints));
  return question;
}

}  // namespace

std::string to_json(const HistoryQuestion& question) {
  OrderedJson json = {{"schema", kHistoryQuestionSchema},
                      {"id", question.id},
                      {"series", question.device.empty() ? "fleet" : "device"}};
  if (!question.device.empty()) json["device"] = question.device;
  json["from_ms"] = question.from_ms;
  json["to_ms"] = question.to_ms;
  json["points"] = question.points;
  return json_text(json);
}

ReadQuestion read_history_question(std::span<const std::byte> payload) {
  if (payload.size() > kMaxQuestionBytes) {
    return {"", invalid_input("a question of " + std::to_string(payload.size()) +
                              " bytes is over the limit of " + std::to_string(kMaxQuestionBytes))};
  }
  const std::string_view text(reinterpret_cast<const char*>(payload.data()), payload.size());
  const OrderedJson json = OrderedJson::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return {"", invalid_input("a question is one JSON object")};
  const auto id = needed_text(json, "id");
  if (!id.ok()) return {"", id.error()};
  if (id->size() > kMaxQuestionId) {
    return {"", invalid_input("'id' has " + std::to_string(id->size()) + " bytes, at most " +
                              std::to_string(kMaxQuestionId) + " are taken")};
  }
  return {*id, read_fields(json, *id)};
}

}  // namespace aflguard
