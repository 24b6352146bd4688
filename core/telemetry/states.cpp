#include "core/telemetry/states.h"

#include <algorithm>

namespace aflguard {
namespace {

template <typename State, std::size_t kCount>
State parse(const std::array<State, kCount>& states, std::string_view name) {
  const auto found =
      std::find_if(states.begin(), states.end(), [&](State state) { return to_string(state) == name; });
  return found == states.end() ? State::kUnknown : *found;
}

}  // namespace

std::string_view to_string(DeviceState state) {
  switch (state) {
    case DeviceState::kUnknown:
      return "unknown";
    case DeviceState::kInit:
      return "init";
    case DeviceState::kReady:
      return "ready";
    case DeviceState::kTraining:
      return "training";
    case DeviceState::kDisconnected:
      return "disconnected";
    case DeviceState::kLost:
      return "lost";
    case DeviceState::kAlert:
      return "alert";
  }
  return "unknown";
}

DeviceState parse_device_state(std::string_view name) {
  return parse(kDeviceStates, name);
}

bool is_connected(DeviceState state) {
  return state == DeviceState::kInit || state == DeviceState::kReady || state == DeviceState::kTraining ||
         state == DeviceState::kAlert;
}

std::string_view to_string(GatewayState state) {
  switch (state) {
    case GatewayState::kUnknown:
      return "unknown";
    case GatewayState::kReady:
      return "ready";
    case GatewayState::kAlert:
      return "alert";
    case GatewayState::kDisconnected:
      return "disconnected";
    case GatewayState::kLost:
      return "lost";
  }
  return "unknown";
}

GatewayState parse_gateway_state(std::string_view name) {
  return parse(kGatewayStates, name);
}

}  // namespace aflguard
