#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/bounded_queue.h"
#include "core/base/log.h"
#include "core/http/http_post.h"
#include "core/telemetry/fleet_alert.h"

namespace aflguard::gateway {

/// How alerts leave: either way, or both.
struct AlertWays {
  std::vector<std::string> command{};  ///< a program and its arguments; empty: none
  std::optional<HttpUrl> webhook{};
};

/// Hands alerts to a program or a web server, one after the other, on its own thread: neither holds up the
/// gateway. One that fails is logged and lost.
class AlertSender final {
 public:
  /// `log` is borrowed.
  AlertSender(AlertWays ways, LogSink& log);
  ~AlertSender();

  /// False when too many wait already.
  [[nodiscard]] bool send(FleetAlert alert);

 private:
  void run();
  [[nodiscard]] Status run_command(const FleetAlert& alert) const;
  [[nodiscard]] Status hand_on(const FleetAlert& alert) const;

  const AlertWays ways_;
  LogSink& log_;
  BoundedQueue<FleetAlert> queue_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace aflguard::gateway
