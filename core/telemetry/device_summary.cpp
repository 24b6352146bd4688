#include "core/telemetry/device_summary.h"

#include "core/base/identifier.h"
#include "core/telemetry/json_reading.h"
#include "core/telemetry/json_writing.h"
#include "core/telemetry/schemas.h"

namespace aflguard {
namespace {

OrderedJson verdict_json(const LastVerdict& last) {
  return {{"accepted", last.accepted},
          {"reason", last.reason},
          {"distance", short_number(last.distance)},
          {"bound", short_number(last.bound)},
          {"delay", or_null(last.delay)},
          {"version", or_null(last.version)},
          {"altered", short_number(last.altered)}};
}

OrderedJson recent_json(const std::vector<JudgedDistance>& recent) {
  OrderedJson rows = OrderedJson::array();
  for (const JudgedDistance& one : recent) {
    rows.push_back({to_milliseconds(one.time), short_number(one.distance), short_number(one.bound),
                    one.accepted ? 1 : 0});
  }
  return rows;
}

std::optional<LastVerdict> read_last(const ReadJson& json) {
  const ReadJson* last = find_field(json, "last");
  if (last == nullptr || !last->is_object()) return std::nullopt;
  return LastVerdict{.accepted = true_field(*last, "accepted"),
                     .reason = text_field(*last, "reason", kMaxReadName),
                     .delay = count_field(*last, "delay"),
                     .distance = number_field(*last, "distance"),
                     .bound = number_field(*last, "bound"),
                     .version = count_field(*last, "version"),
                     .altered = number_field(*last, "altered")};
}

std::vector<JudgedDistance> read_recent(const ReadJson& json) {
  std::vector<JudgedDistance> result;
  const ReadJson* recent = find_field(json, "recent");
  if (recent == nullptr || !recent->is_array()) return result;
  for (const ReadJson& entry : *recent) {
    if (result.size() == kMaxRecentVerdicts) break;
    if (!entry.is_array() || entry.size() < 4) continue;
    const auto time = as_milliseconds(&entry[0]);
    if (!time) continue;
    const auto accepted = as_number(&entry[3]);
    result.push_back({*time, as_number(&entry[1]), as_number(&entry[2]), accepted && *accepted != 0});
  }
  return result;
}

}  // namespace

std::optional<double> JudgedDistance::ratio() const {
  if (!distance || !bound || *bound <= 0) return std::nullopt;
  return *distance / *bound;
}

std::string to_json(const DeviceSummary& summary) {
  OrderedJson json = {{"schema", kDeviceSummarySchema}, {"device", summary.device}};
  json["time"] = time_or_null(summary.time);
  json["state"] =
      summary.state == DeviceState::kUnknown ? OrderedJson() : OrderedJson(to_string(summary.state));
  json["accepted"] = or_null(summary.accepted);
  json["rejected"] = or_null(summary.rejected);
  json["refused"] = or_null(summary.refused);
  json["recent_rejected_share"] = short_number(summary.recent_rejected_share);
  json["last"] = summary.last ? verdict_json(*summary.last) : OrderedJson();
  json["recent"] = recent_json(summary.recent);
  json["distance_ratio"] = short_number(summary.distance_ratio);
  json["distance_trend"] = short_number(summary.distance_trend);
  json["last_seen"] = time_or_null(summary.last_seen);
  return json_text(json);
}

std::optional<DeviceSummary> read_device_summary(std::string_view payload) {
  const auto json = parse_message(payload, kDeviceSummarySchema);
  if (!json) return std::nullopt;
  return DeviceSummary{.device = text_field(*json, "device", kMaxIdentifierLength),
                       .time = time_field(*json, "time"),
                       .state = parse_device_state(text_field(*json, "state")),
                       .accepted = count_field(*json, "accepted"),
                       .rejected = count_field(*json, "rejected"),
                       .refused = count_field(*json, "refused"),
                       .recent_rejected_share = number_field(*json, "recent_rejected_share"),
                       .last = read_last(*json),
                       .recent = read_recent(*json),
                       .distance_ratio = number_field(*json, "distance_ratio"),
                       .distance_trend = number_field(*json, "distance_trend"),
                       .last_seen = time_field(*json, "last_seen")};
}

}  // namespace aflguard
