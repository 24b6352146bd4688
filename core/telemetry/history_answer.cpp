#include "core/telemetry/history_answer.h"

#include <array>

#include "core/base/short_text.h"
#include "core/telemetry/json_reading.h"
#include "core/telemetry/json_writing.h"
#include "core/telemetry/schemas.h"

namespace aflguard {
namespace {

/// Room in 4096 bytes for the points beside everything else, an id of control characters included.
constexpr std::size_t kPointBytes = 3000;

/// How a kind of point is written and read.
template <typename Point>
struct Series;

template <>
struct Series<FleetHistoryPoint> {
  static constexpr std::string_view kName = "fleet";
  static constexpr std::array<std::string_view, 8> kFields = {"time_ms",    "version",   "accepted",
                                                              "rejected",   "refused",   "updates_per_second",
                                                              "mean_delay", "test_error"};
  static OrderedJson row(const FleetHistoryPoint& point) {
    return {to_milliseconds(point.time),    or_null(point.version),
            or_null(point.accepted),        or_null(point.rejected),
            or_null(point.refused),         short_number(point.updates_per_second),
            short_number(point.mean_delay), short_number(point.test_error)};
  }
  /// `value` holds what stands under each of kFields.
  static FleetHistoryPoint read(WallTime time, const std::array<const ReadJson*, 8>& value) {
    return {.time = time,
            .version = as_count(value[1]),
            .accepted = as_count(value[2]),
            .rejected = as_count(value[3]),
            .refused = as_count(value[4]),
            .updates_per_second = as_number(value[5]),
            .mean_delay = as_number(value[6]),
            .test_error = as_number(value[7])};
  }
};

template <>
struct Series<DeviceHistoryPoint> {
  static constexpr std::string_view kName = "device";
  static constexpr std::array<std::string_view, 6> kFields = {"time_ms",  "accepted", "rejected",
                                                              "distance", "bound",    "delay"};
  static OrderedJson row(const DeviceHistoryPoint& point) {
    return {to_milliseconds(point.time),  or_null(point.accepted),   or_null(point.rejected),
            short_number(point.distance), short_number(point.bound), short_number(point.delay)};
  }
  static DeviceHistoryPoint read(WallTime time, const std::array<const ReadJson*, 6>& value) {
    return {.time = time,
            .accepted = as_count(value[1]),
            .rejected = as_count(value[2]),
            .distance = as_number(value[3]),
            .bound = as_number(value[4]),
            .delay = as_number(value[5])};
  }
};

OrderedJson head(const std::string& id) {
  return {{"schema", kHistoryAnswerSchema}, {"id", id}};
}

template <typename Point>
std::vector<std::string> write(const std::string& id, std::int64_t step_ms, std::span<const Point> points) {
  std::vector<std::string> messages;
  std::size_t taken = 0;
  do {
    OrderedJson rows = OrderedJson::array();
    std::size_t bytes = 0;
    while (taken < points.size()) {
      OrderedJson next = Series<Point>::row(points[taken]);
      bytes += next.dump().size() + 1;
      if (bytes > kPointBytes) break;
      rows.push_back(std::move(next));
      ++taken;
    }
    OrderedJson json = head(id);
    json["series"] = Series<Point>::kName;
    json["part"] = messages.size();
    json["last"] = taken == points.size();
    json["step_ms"] = step_ms;
    json["fields"] = Series<Point>::kFields;
    json["points"] = std::move(rows);
    messages.push_back(json_text(json));
  } while (taken < points.size());
  return messages;
}

/// Where a field stands in every point; past the end when the answer does not have it.
std::size_t place_of(const ReadJson& fields, std::string_view name) {
  for (std::size_t i = 0; i < fields.size() && i < kMaxReadReasons; ++i) {
    if (fields[i].is_string() && fields[i].get_ref<const std::string&>() == name) return i;
  }
  return SIZE_MAX;
}

template <typename Point>
std::vector<Point> read(const ReadJson& fields, const ReadJson& points) {
  constexpr std::size_t kCount = Series<Point>::kFields.size();
  std::array<std::size_t, kCount> places{};
  for (std::size_t i = 0; i < kCount; ++i) places[i] = place_of(fields, Series<Point>::kFields[i]);
  std::vector<Point> result;
  for (std::size_t i = 0; i < points.size() && i < static_cast<std::size_t>(kMaxHistoryPoints); ++i) {
    const ReadJson& point = points[i];
    if (!point.is_array()) continue;
    std::array<const ReadJson*, kCount> values{};
    for (std::size_t k = 0; k < kCount; ++k) {
      values[k] = places[k] < point.size() ? &point[places[k]] : nullptr;
    }
    if (const auto time = as_milliseconds(values[0])) result.push_back(Series<Point>::read(*time, values));
  }
  return result;
}

}  // namespace

std::vector<std::string> history_answer(const std::string& id, std::int64_t step_ms,
                                        std::span<const FleetHistoryPoint> points) {
  return write(id, step_ms, points);
}

std::vector<std::string> history_answer(const std::string& id, std::int64_t step_ms,
                                        std::span<const DeviceHistoryPoint> points) {
  return write(id, step_ms, points);
}

std::string history_error(const std::string& id, const std::string& error) {
  OrderedJson json = head(id);
  json["last"] = true;
  json["error"] = shortened(error, kMaxWrittenError);
  return json_text(json);
}

std::optional<HistoryAnswer> read_history_answer(std::string_view payload) {
  const auto json = parse_message(payload, kHistoryAnswerSchema);
  if (!json) return std::nullopt;
  HistoryAnswer answer;
  answer.id = text_field(*json, "id", kMaxQuestionId);
  answer.last = true_field(*json, "last");
  answer.error = text_field(*json, "error");
  const ReadJson* fields = find_field(*json, "fields");
  const ReadJson* points = find_field(*json, "points");
  if (fields == nullptr || !fields->is_array() || points == nullptr || !points->is_array()) return answer;
  if (text_field(*json, "series") == Series<DeviceHistoryPoint>::kName) {
    answer.device = read<DeviceHistoryPoint>(*fields, *points);
  } else {
    answer.fleet = read<FleetHistoryPoint>(*fields, *points);
  }
  return answer;
}

}  // namespace aflguard
