#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gateway_server/history/history_points.h"

namespace aflguard::gateway {

/// The messages that tell a viewer these points: rates and means instead of sums.
[[nodiscard]] std::vector<std::string> fleet_answer(const std::string& id, std::int64_t step_ms,
                                                    std::span<const FleetPoint> points);
[[nodiscard]] std::vector<std::string> device_answer(const std::string& id, std::int64_t step_ms,
                                                     std::span<const DevicePoint> points);

}  // namespace aflguard::gateway
