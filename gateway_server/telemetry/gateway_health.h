#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "gateway_server/judging/gateway_counters.h"

namespace aflguard::gateway {

/// What keeps the gateway from its work. Safe from several threads.
class GatewayHealth final {
 public:
  /// A thread that has not moved for longer hangs; systemd may restart the gateway then.
  static constexpr std::chrono::seconds kLongestSilence{30};

  /// Both are borrowed.
  GatewayHealth(const GatewayCounters& counters, const Clock& clock);

  void set_connected(bool connected) { connected_ = connected; }
  [[nodiscard]] bool connected() const { return connected_; }
  /// The thread of the broker's messages has moved.
  void note_bus_thread();

  [[nodiscard]] bool judging_hangs() const { return hangs(counters_.judge_alive_ms); }
  /// One short text for each; empty when the gateway is healthy.
  [[nodiscard]] std::vector<std::string> problems() const;

 private:
  [[nodiscard]] bool hangs(std::int64_t alive_ms) const;

  const GatewayCounters& counters_;
  const Clock& clock_;
  std::atomic<bool> connected_{false};
  std::atomic<std::int64_t> bus_alive_ms_{0};  ///< steady clock
};

}  // namespace aflguard::gateway
