#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/telemetry/states.h"

namespace aflguard::gateway {

/// How the devices are, by their own words on up/<device>/status: for people, nothing decides on it. Holds
/// one small entry per device that it is told of; who calls bounds the names. One thread.
class DevicePresence final {
 public:
  /// What a message changed. `kind` is an event's (docs/topics.md), empty when it makes none.
  struct Change {
    std::string_view kind;
    DeviceState state = DeviceState::kUnknown;
    std::string message;  ///< the device's own, for an alert
  };
  struct Taken {
    std::optional<Change> change;  ///< none when nothing changed or it is not a status
    bool wants_offer = false;      ///< the device is connected and asks what the gateway takes
  };
  /// Takes one status message. What a broker has kept (`retained`) tells how things are, and is not an event
  /// for a device that was not known before.
  Taken take(std::string_view device, std::span<const std::byte> payload, bool retained);

  /// The state that the device reported last; kUnknown when it never did.
  [[nodiscard]] DeviceState state(std::string_view device) const;
  /// Devices in a state that only a connected one has.
  [[nodiscard]] std::size_t connected() const { return connected_; }
  /// Devices in that state.
  [[nodiscard]] std::size_t count(DeviceState state) const {
    return counts_[static_cast<std::size_t>(state)];
  }
  void forget(std::string_view device);
  /// Forgets every device for which `keep` is false.
  void forget_unless(const std::function<bool(std::string_view)>& keep);

 private:
  std::map<std::string, DeviceState, std::less<>> states_;
  std::size_t connected_ = 0;
  std::array<std::size_t, kDeviceStates.size() + 1> counts_{};  ///< by state
};

}  // namespace aflguard::gateway
