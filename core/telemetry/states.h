#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace aflguard {

enum class DeviceState : std::uint8_t {
  kUnknown,       ///< never sent: what a reader has before it knows
  kInit,          ///< just started
  kReady,         ///< connected; waits for a model, for samples or for its time
  kTraining,      ///< takes part
  kDisconnected,  ///< stopped by its owner
  kLost,          ///< vanished: the broker says so by the last will
  kAlert,         ///< needs attention: the message says why
};
/// Those that are sent.
inline constexpr std::array kDeviceStates = {DeviceState::kInit,     DeviceState::kReady,
                                             DeviceState::kTraining, DeviceState::kDisconnected,
                                             DeviceState::kLost,     DeviceState::kAlert};

[[nodiscard]] std::string_view to_string(DeviceState state);
/// kUnknown for any other name.
[[nodiscard]] DeviceState parse_device_state(std::string_view name);
/// A state that only a connected device has.
[[nodiscard]] bool is_connected(DeviceState state);

enum class GatewayState : std::uint8_t {
  kUnknown,       ///< never sent
  kReady,         ///< judges updates
  kAlert,         ///< needs attention: the message says why
  kDisconnected,  ///< stopped by its owner
  kLost,          ///< vanished
};
inline constexpr std::array kGatewayStates = {GatewayState::kReady, GatewayState::kAlert,
                                              GatewayState::kDisconnected, GatewayState::kLost};

[[nodiscard]] std::string_view to_string(GatewayState state);
/// kUnknown for any other name.
[[nodiscard]] GatewayState parse_gateway_state(std::string_view name);

}  // namespace aflguard
