#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/telemetry/telemetry_limits.h"
#include "fleet/view/fleet_state.h"

namespace aflguard::view {

enum class TroubleLevel : std::uint8_t { kNone, kNotice, kWarning, kAlarm };
[[nodiscard]] std::string_view to_string(TroubleLevel level);

/// How much a device deserves attention, and why.
struct Trouble {
  TroubleLevel level = TroubleLevel::kNone;
  double score = 0;  ///< orders devices: the higher, the sooner it should be looked at
  std::string why;   ///< of the worst; empty where there is nothing

  /// Its updates are rejected too often: it may lie, or its data differ.
  bool suspicious = false;
};

[[nodiscard]] Trouble trouble_of(const DevicePicture& device, WallTime now);

/// What is wrong with the gateway, or with the silence around it.
[[nodiscard]] Trouble gateway_trouble(const GatewayPicture& gateway, WallTime now);

/// One device with its trouble, for lists. Points into the picture.
struct DeviceRow {
  const std::string* name = nullptr;
  const DevicePicture* device = nullptr;
  Trouble trouble;
};

/// Every device, the most troubled first; names decide among equals.
[[nodiscard]] std::vector<DeviceRow> by_trouble(const FleetState& picture, WallTime now);

struct FleetTally {
  std::size_t devices = 0;
  std::size_t connected = 0;  ///< init, ready, training or alert
  std::size_t lost = 0;
  std::size_t alert = 0;
  std::size_t suspicious = 0;
};
[[nodiscard]] FleetTally tally(const std::vector<DeviceRow>& rows);

}  // namespace aflguard::view
