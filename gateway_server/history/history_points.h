#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/aggregation/client_update.h"

namespace aflguard::gateway {

/// One resolution of the history, and for how long it is kept.
struct HistoryLevel {
  std::int64_t step_ms;
  std::int64_t kept_ms;
};
inline constexpr std::int64_t kDayMs = 86'400'000;
inline constexpr std::array<HistoryLevel, 3> kHistoryLevels = {
    {{10'000, kDayMs}, {300'000, 31 * kDayMs}, {3'600'000, 3 * 366 * kDayMs}}};
/// The points of so many devices are kept that long; with more devices, for proportionally less time.
inline constexpr std::uint64_t kFullyKeptDevices = 200;

/// What happened within one step that begins at `time_ms`. Sums, so that steps add up to longer ones.
struct FleetPoint {
  std::int64_t time_ms = 0;
  std::uint64_t version = 0;  ///< at its end
  std::uint64_t accepted = 0;
  std::uint64_t rejected = 0;
  std::uint64_t refused = 0;
  std::uint64_t delay_sum = 0;
  std::optional<double> test_error;  ///< the latest in it

  /// Takes in what came later.
  void add(const FleetPoint& later);
};

struct DevicePoint {
  std::int64_t time_ms = 0;
  ClientId device = 0;
  std::uint64_t accepted = 0;
  std::uint64_t rejected = 0;
  std::uint64_t delay_sum = 0;
  std::uint64_t measured = 0;  ///< updates with a finite distance and bound
  double distance_sum = 0;
  double bound_sum = 0;

  void add(const DevicePoint& later);
};

/// One step of the finest level.
struct HistoryBatch {
  FleetPoint fleet;
  std::vector<DevicePoint> devices;  ///< those that sent something
};

/// The beginning of the step that `time_ms` is in.
[[nodiscard]] std::int64_t step_begin(std::int64_t time_ms, std::int64_t step_ms);

}  // namespace aflguard::gateway
