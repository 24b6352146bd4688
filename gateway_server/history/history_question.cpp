#include "gateway_server/history/history_question.h"

#include <algorithm>

#include "core/base/identifier.h"
#include "core/base/short_text.h"
#include "core/telemetry/json_numbers.h"

namespace aflguard::gateway {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxId = 64;
constexpr std::size_t kMaxError = 300;
/// Room in 4096 bytes for the points beside everything else, an id of control characters included.
constexpr std::size_t kPointBytes = 3000;
constexpr std::int64_t kYear9999Ms = 253'402'300'800'000;
constexpr const char* kSchema = "aflguard-history-question-1";

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<std::string> text_field(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) {
    return invalid_input(std::string("'") + key + "' must be a text");
  }
  return found->get<std::string>();
}

Result<std::int64_t> integer_field(const Json& json, const char* key, std::int64_t low, std::int64_t high) {
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
      (found == json.end() ? ", and is missing" : ", and is " + shortened(dump(*found), 40)));
}

Result<HistoryQuestion> read_fields(const Json& json, const std::string& id) {
  HistoryQuestion question;
  question.id = id;
  TRY(const std::string schema, text_field(json, "schema"));
  if (schema != kSchema) {
    return invalid_input("'schema' is '" + shortened(schema, 40) + "', this gateway knows " + kSchema);
  }
  TRY(const std::string series, text_field(json, "series"));
  if (series == "device") {
    TRY(question.device, text_field(json, "device"));
    if (!is_identifier(question.device)) {
      return invalid_input("'device' is '" + shortened(question.device, 40) + "', which is no device's name");
    }
  } else if (series != "fleet") {
    return invalid_input("'series' is '" + shortened(series, 40) + "', must be fleet or device");
  }
  TRY(question.from_ms, integer_field(json, "from_ms", 0, kYear9999Ms));
  TRY(question.to_ms, integer_field(json, "to_ms", 0, kYear9999Ms));
  if (question.from_ms >= question.to_ms) return invalid_input("'to_ms' must be above 'from_ms'");
  TRY(question.points, integer_field(json, "points", 1, kMaxHistoryPoints));
  return question;
}

Json head(const std::string& id) {
  return {{"schema", "aflguard-history-1"}, {"id", id}};
}

Json counts_or_null(std::uint64_t sum, std::uint64_t count) {
  return count == 0 ? Json() : short_number(static_cast<double>(sum) / static_cast<double>(count));
}

Json row(const FleetPoint& point, std::int64_t step_ms) {
  const std::uint64_t judged = point.accepted + point.rejected;
  return {point.time_ms,
          point.version,
          point.accepted,
          point.rejected,
          point.refused,
          short_number(static_cast<double>(judged) * 1000 / static_cast<double>(step_ms)),
          counts_or_null(point.delay_sum, judged),
          short_number(point.test_error)};
}

Json row(const DevicePoint& point, std::int64_t /*step_ms*/) {
  const auto count = static_cast<double>(point.measured);
  const bool measured = point.measured > 0;
  return {point.time_ms,
          point.accepted,
          point.rejected,
          measured ? short_number(point.distance_sum / count) : Json(),
          measured ? short_number(point.bound_sum / count) : Json(),
          counts_or_null(point.delay_sum, point.accepted + point.rejected)};
}

template <typename Point>
std::vector<std::string> answer(const std::string& id, const char* series, const Json& fields,
                                std::int64_t step_ms, std::span<const Point> points) {
  std::vector<std::string> messages;
  std::size_t taken = 0;
  do {
    Json rows = Json::array();
    std::size_t bytes = 0;
    while (taken < points.size()) {
      Json next = row(points[taken], step_ms);
      bytes += next.dump().size() + 1;
      if (bytes > kPointBytes) break;
      rows.push_back(std::move(next));
      ++taken;
    }
    Json json = head(id);
    json["series"] = series;
    json["part"] = messages.size();
    json["last"] = taken == points.size();
    json["step_ms"] = step_ms;
    json["fields"] = fields;
    json["points"] = std::move(rows);
    messages.push_back(dump(json));
  } while (taken < points.size());
  return messages;
}

}  // namespace

ReadQuestion read_history_question(std::span<const std::byte> payload) {
  if (payload.size() > kMaxQuestionBytes) {
    return {"", invalid_input("a question of " + std::to_string(payload.size()) +
                              " bytes is over the limit of " + std::to_string(kMaxQuestionBytes))};
  }
  const std::string_view text(reinterpret_cast<const char*>(payload.data()), payload.size());
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return {"", invalid_input("a question is one JSON object")};
  const auto id = text_field(json, "id");
  if (!id.ok()) return {"", id.error()};
  if (id->size() > kMaxId) {
    return {"", invalid_input("'id' has " + std::to_string(id->size()) + " bytes, at most " +
                              std::to_string(kMaxId) + " are taken")};
  }
  return {*id, read_fields(json, *id)};
}

HistoryPlan plan_history(const HistoryQuestion& question, std::int64_t now_ms) {
  const std::int64_t span = question.to_ms - question.from_ms;
  const std::int64_t wanted = (span + question.points - 1) / question.points;
  HistoryPlan plan;
  while (plan.level + 1 < kHistoryLevels.size() &&
         (kHistoryLevels[plan.level + 1].step_ms <= wanted ||
          now_ms - question.from_ms > kHistoryLevels[plan.level].kept_ms)) {
    ++plan.level;
  }
  const std::int64_t step = kHistoryLevels[plan.level].step_ms;
  plan.begin_ms = step_begin(question.from_ms, step);
  // The beginning may lie before the wanted one, so the steps are counted from there.
  const std::int64_t whole = question.to_ms - plan.begin_ms;
  const std::int64_t least = (whole + question.points - 1) / question.points;
  plan.step_ms = (least + step - 1) / step * step;
  return plan;
}

std::vector<std::string> fleet_answer(const std::string& id, std::int64_t step_ms,
                                      std::span<const FleetPoint> points) {
  return answer(id, "fleet",
                {"time_ms", "version", "accepted", "rejected", "refused", "updates_per_second", "mean_delay",
                 "test_error"},
                step_ms, points);
}

std::vector<std::string> device_answer(const std::string& id, std::int64_t step_ms,
                                       std::span<const DevicePoint> points) {
  return answer(id, "device", {"time_ms", "accepted", "rejected", "distance", "bound", "delay"}, step_ms,
                points);
}

std::string history_error(const std::string& id, const std::string& error) {
  Json json = head(id);
  json["last"] = true;
  json["error"] = shortened(error, kMaxError);
  return dump(json);
}

}  // namespace aflguard::gateway
