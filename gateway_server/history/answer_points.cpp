#include "gateway_server/history/answer_points.h"

#include "core/telemetry/history_answer.h"

namespace aflguard::gateway {
namespace {

std::optional<double> mean(double sum, std::uint64_t count) {
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

FleetHistoryPoint means_of(const FleetPoint& point, std::int64_t step_ms) {
  const std::uint64_t judged = point.accepted + point.rejected;
  return {.time = from_milliseconds(point.time_ms),
          .version = point.version,
          .accepted = point.accepted,
          .rejected = point.rejected,
          .refused = point.refused,
          .updates_per_second = static_cast<double>(judged) * 1000 / static_cast<double>(step_ms),
          .mean_delay = mean(static_cast<double>(point.delay_sum), judged),
          .test_error = point.test_error};
}

DeviceHistoryPoint means_of(const DevicePoint& point) {
  return {.time = from_milliseconds(point.time_ms),
          .accepted = point.accepted,
          .rejected = point.rejected,
          .distance = mean(point.distance_sum, point.measured),
          .bound = mean(point.bound_sum, point.measured),
          .delay = mean(static_cast<double>(point.delay_sum), point.accepted + point.rejected)};
}

}  // namespace

std::vector<std::string> fleet_answer(const std::string& id, std::int64_t step_ms,
                                      std::span<const FleetPoint> points) {
  std::vector<FleetHistoryPoint> means;
  for (const FleetPoint& point : points) means.push_back(means_of(point, step_ms));
  return history_answer(id, step_ms, means);
}

std::vector<std::string> device_answer(const std::string& id, std::int64_t step_ms,
                                       std::span<const DevicePoint> points) {
  std::vector<DeviceHistoryPoint> means;
  for (const DevicePoint& point : points) means.push_back(means_of(point));
  return history_answer(id, step_ms, means);
}

}  // namespace aflguard::gateway
