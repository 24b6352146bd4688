#include "gateway_server/alerts/fleet_alerts.h"

#include <array>
#include <cstdio>

#include "core/base/rfc3339.h"

namespace aflguard::gateway {
namespace {

std::string percent(double share) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%.0f %%", 100 * share);
  return text.data();
}

}  // namespace

FleetAlerts::FleetAlerts(AlertSettings settings, std::string fleet, const Clock& clock, LogSink& log)
    : settings_(std::move(settings)),
      fleet_(std::move(fleet)),
      clock_(clock),
      log_(log),
      book_(settings_.per_hour),
      sender_(settings_.ways, log) {}

void FleetAlerts::follow(std::string_view kind, const std::string& device, bool there,
                         const std::string& text, Duration lasting) {
  if (there) {
    book_.set(kind, device, text, clock_.steady(), lasting);
  } else {
    book_.clear(kind, device);
  }
}

void FleetAlerts::status(const std::string& device, const DeviceStatus& status) {
  follow("device-lost", device, status.state == DeviceState::kLost,
         "device '" + device + "' vanished without saying goodbye",
         std::chrono::duration_cast<Duration>(settings_.lost));
  follow("device-alert", device, status.state == DeviceState::kAlert,
         "device '" + device + "' needs attention: " + status.message);
  if (!status.certificate_until) return;  // a last will does not know it
  const std::chrono::duration<double, std::ratio<86'400>> left(*status.certificate_until - clock_.wall());
  follow("certificate", device, left.count() < settings_.certificate_days,
         "the certificate of device '" + device + "' ends at " + to_rfc3339(*status.certificate_until));
}

void FleetAlerts::suspicious(const std::string& device, bool is) {
  follow("suspicious", device, is,
         "at least half of the recent updates of device '" + device + "' were rejected");
}

void FleetAlerts::trouble(std::string_view kind, const std::string& text) {
  follow(kind, {}, !text.empty(), text);
}

void FleetAlerts::disk(double free_share) {
  follow("disk-full", {}, free_share < settings_.disk_free,
         percent(free_share) + " of the store's disk is free; when it is full, nothing is answered");
}

void FleetAlerts::tick() {
  while (const auto told = book_.next(clock_.steady())) {
    if (!sender_.send({clock_.wall(), fleet_, told->kind, told->device, told->over, told->text})) {
      log_.error("[alerts] too many wait for the command or the webhook; one is lost: " + told->text);
    }
  }
}

}  // namespace aflguard::gateway
