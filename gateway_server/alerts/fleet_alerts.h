#pragma once

#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/telemetry/device_status.h"
#include "gateway_server/alerts/alert_book.h"
#include "gateway_server/alerts/alert_sender.h"

namespace aflguard::gateway {

struct AlertSettings {
  AlertWays ways{};
  double per_hour = 20;
  std::chrono::duration<double> lost{300};  ///< so long a device is away before that is told
  double certificate_days = 7;
  double disk_free = 0.05;  ///< of the store's file system
};

/// What a gateway tells its operator: problems as they come and go, from what telemetry sees. One thread.
class FleetAlerts final {
 public:
  /// `clock` and `log` are borrowed.
  FleetAlerts(AlertSettings settings, std::string fleet, const Clock& clock, LogSink& log);

  /// A status that a device published.
  void status(const std::string& device, const DeviceStatus& status);
  void suspicious(const std::string& device, bool is);
  /// Of the whole fleet; an empty text: it is over.
  void trouble(std::string_view kind, const std::string& text);
  void disk(double free_share);
  /// It has left the fleet.
  void forget(const std::string& device) { book_.forget(device); }
  /// Sends what is due.
  void tick();

 private:
  using Duration = std::chrono::steady_clock::duration;
  void follow(std::string_view kind, const std::string& device, bool there, const std::string& text,
              Duration lasting = {});

  const AlertSettings settings_;
  const std::string fleet_;
  const Clock& clock_;
  LogSink& log_;
  AlertBook book_;
  AlertSender sender_;
};

}  // namespace aflguard::gateway
