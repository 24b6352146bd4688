#include "fleet/view/history_answer.h"

#include <algorithm>

#include "core/telemetry/message_json.h"

namespace aflguard::view {
namespace {

using namespace message_json;

/// Where a field stands in every point; none when the answer does not have it.
std::optional<std::size_t> place_of(const Json& fields, std::string_view name) {
  for (std::size_t i = 0; i < fields.size() && i < 64; ++i) {
    if (fields[i].is_string() && fields[i].get_ref<const std::string&>() == name) return i;
  }
  return std::nullopt;
}

std::optional<double> value(const Json& point, const std::optional<std::size_t>& place) {
  return place && *place < point.size() ? as_number(&point[*place]) : std::nullopt;
}

void read_points(const Json& fields, const Json& points, HistoryAnswer& answer) {
  const auto time_place = place_of(fields, "time_ms");
  const auto rate = place_of(fields, "updates_per_second");
  const auto error = place_of(fields, "test_error");
  const auto distance = place_of(fields, "distance");
  const auto bound = place_of(fields, "bound");
  const auto accepted = place_of(fields, "accepted");
  const auto rejected = place_of(fields, "rejected");
  std::size_t taken = 0;
  for (const Json& point : points) {
    if (taken++ == kMaxHistoryPoints) return;
    if (!point.is_array() || !time_place || *time_place >= point.size()) continue;
    const auto at = as_milliseconds(&point[*time_place]);
    if (!at) continue;
    if (const auto known = value(point, rate)) answer.rates.emplace_back(*at, *known);
    if (const auto known = value(point, error)) answer.errors.emplace_back(*at, *known);
    if (distance) {
      answer.distances.push_back({*at, value(point, distance), value(point, bound),
                                  value(point, accepted).value_or(0) >= value(point, rejected).value_or(0)});
    }
  }
}

std::int64_t milliseconds(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

}  // namespace

std::optional<HistoryAnswer> read_history_answer(std::string_view payload) {
  const auto json = parse(payload, "aflguard-history-1");
  if (!json) return std::nullopt;
  HistoryAnswer answer;
  answer.id = text(*json, "id", 64);
  answer.error = text(*json, "error");
  const Json* last = find(*json, "last");
  answer.last = last != nullptr && last->is_boolean() && last->get<bool>();
  const Json* fields = find(*json, "fields");
  const Json* points = find(*json, "points");
  if (fields != nullptr && fields->is_array() && points != nullptr && points->is_array()) {
    read_points(*fields, *points, answer);
  }
  return answer;
}

std::string history_question(const std::string& id, const std::string& device, WallTime from, WallTime to,
                             std::size_t points) {
  nlohmann::ordered_json json = {
      {"schema", "aflguard-history-question-1"}, {"id", id}, {"series", device.empty() ? "fleet" : "device"}};
  if (!device.empty()) json["device"] = device;
  json["from_ms"] = milliseconds(from);
  json["to_ms"] = milliseconds(to);
  json["points"] = std::min(points, kMaxHistoryPoints);
  return json.dump();
}

}  // namespace aflguard::view
