#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/telemetry/last_verdict.h"
#include "core/telemetry/states.h"
#include "core/telemetry/wall_time.h"

namespace aflguard {

/// A distance to the reference update beside its bound, as the gateway judged it.
struct JudgedDistance {
  WallTime time{};
  std::optional<double> distance{};  ///< none where it was not a number
  std::optional<double> bound{};
  bool accepted = false;

  /// How near to the bound; none where there is no bound to divide by.
  [[nodiscard]] std::optional<double> ratio() const;
};

/// gateway/devices/<device>: what the gateway knows of a device. What is not known is absent here and null in
/// the message.
struct DeviceSummary {
  std::string device{};
  std::optional<WallTime> time{};
  DeviceState state = DeviceState::kUnknown;  ///< that the device's status reported last
  std::optional<std::uint64_t> accepted{};    ///< of its whole life
  std::optional<std::uint64_t> rejected{};
  std::optional<std::uint64_t> refused{};  ///< since the gateway's start
  std::optional<double> recent_rejected_share{};
  std::optional<LastVerdict> last{};
  std::vector<JudgedDistance> recent{};    ///< oldest first, at most kMaxRecentVerdicts
  std::optional<double> distance_ratio{};  ///< running mean of distance / bound
  std::optional<double> distance_trend{};  ///< its change per update
  std::optional<WallTime> last_seen{};
};

/// One line of JSON, below 4 KB.
[[nodiscard]] std::string to_json(const DeviceSummary& summary);

/// None when the text is something else.
[[nodiscard]] std::optional<DeviceSummary> read_device_summary(std::string_view payload);

}  // namespace aflguard
