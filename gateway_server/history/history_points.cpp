#include "gateway_server/history/history_points.h"

namespace aflguard::gateway {

void FleetPoint::add(const FleetPoint& later) {
  version = later.version;
  accepted += later.accepted;
  rejected += later.rejected;
  refused += later.refused;
  delay_sum += later.delay_sum;
  if (later.test_error) test_error = later.test_error;
}

void DevicePoint::add(const DevicePoint& later) {
  accepted += later.accepted;
  rejected += later.rejected;
  delay_sum += later.delay_sum;
  measured += later.measured;
  distance_sum += later.distance_sum;
  bound_sum += later.bound_sum;
}

std::int64_t step_begin(std::int64_t time_ms, std::int64_t step_ms) {
  const std::int64_t rest = time_ms % step_ms;
  return time_ms - (rest < 0 ? rest + step_ms : rest);
}

}  // namespace aflguard::gateway
