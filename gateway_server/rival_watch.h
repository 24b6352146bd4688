#pragma once

#include <chrono>
#include <optional>

namespace aflguard::gateway {

/// Two gateways with one identity, as when a gateway's folder was copied, take the broker's one session from
/// each other again and again. The one that came second finds out soon after it connected first, and stops.
class RivalWatch final {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// The other one, which reconnects within a second or two, has been there for longer.
  static constexpr std::chrono::seconds kNewcomer{10};

  void on_connected(Time now) {
    if (!first_connected_) first_connected_ = now;
  }
  /// The session was taken over. True when this gateway came second.
  [[nodiscard]] bool came_second(Time now) const {
    return first_connected_ && now - *first_connected_ < kNewcomer;
  }

 private:
  std::optional<Time> first_connected_;
};

}  // namespace aflguard::gateway
