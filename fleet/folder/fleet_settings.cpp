#include "fleet/folder/fleet_settings.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>

#include "core/base/identifier.h"
#include "core/config/config_file.h"
#include "fleet/folder/toml_template.h"

namespace aflguard::fleet {
namespace {

constexpr std::int64_t kMinMessageBytes = 64 << 10;
constexpr std::int64_t kMaxMessageBytes = 256 << 20;  // MQTT's own limit
constexpr std::int64_t kMinQueueBytes = 1 << 20;
constexpr std::int64_t kMaxQueueBytes = std::int64_t{64} << 30;
constexpr int kMaxCertificateDays = 7000;

bool is_host(const std::string& host) {
  if (is_ip_address(host)) return true;
  return !host.empty() && host.size() <= 253 && host.front() != '-' && host.front() != '.' &&
         std::all_of(host.begin(), host.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                  c == '.';
         });
}

}  // namespace

bool is_ip_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return ::inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || (is_ip_address(host) && host.starts_with("127."));
}

Status check_settings(const FleetSettings& settings) {
  TRY_STATUS(check_identifier("fleet", settings.name));
  if (!is_host(settings.broker_host)) {
    return invalid_input("broker host '" + settings.broker_host.substr(0, 80) +
                         "' is neither a host name nor an address");
  }
  if (settings.broker_port == 0) return invalid_input("broker port 0 is not a port; choose 1 to 65535");
  if (settings.dashboard_port == settings.broker_port) {
    return invalid_input("the dashboard's port is " + std::to_string(settings.dashboard_port) +
                         ", which is the broker's; choose another");
  }
  if (!is_ip_address(settings.dashboard_host)) {
    return invalid_input(
        "dashboard host '" + settings.dashboard_host.substr(0, 80) +
        "' is not an address; choose 127.0.0.1 for this machine only, 0.0.0.0 for all networks");
  }
  const auto outside = [](const std::string& what, std::int64_t value, std::int64_t low, std::int64_t high) {
    return value >= low && value <= high
               ? Status()
               : invalid_input(what + " is " + std::to_string(value) + "; allowed are " +
                               std::to_string(low) + " to " + std::to_string(high));
  };
  TRY_STATUS(outside("the message limit", static_cast<std::int64_t>(settings.message_bytes), kMinMessageBytes,
                     kMaxMessageBytes));
  TRY_STATUS(outside("the queue limit", static_cast<std::int64_t>(settings.queue_bytes), kMinQueueBytes,
                     kMaxQueueBytes));
  return outside("days of a certificate", settings.certificate_days, 1, kMaxCertificateDays);
}

Result<FleetSettings> read_fleet_settings(const std::filesystem::path& path) {
  TRY(auto file, ConfigFile::read(path));
  FleetSettings settings;
  settings.name = file.table("fleet").text("name");
  auto broker = file.table("broker");
  settings.broker_host = broker.text("host");
  settings.broker_port = static_cast<std::uint16_t>(broker.integer("port", 1, 65535));
  settings.message_bytes = static_cast<std::uint64_t>(
      broker.integer_or("message_bytes", static_cast<std::int64_t>(settings.message_bytes), kMinMessageBytes,
                        kMaxMessageBytes));
  settings.queue_bytes = static_cast<std::uint64_t>(broker.integer_or(
      "queue_bytes", static_cast<std::int64_t>(settings.queue_bytes), kMinQueueBytes, kMaxQueueBytes));
  settings.reload_command = broker.text_or("reload", "");
  auto dashboard = file.table("dashboard");
  settings.dashboard_port =
      static_cast<std::uint16_t>(dashboard.integer_or("port", settings.dashboard_port, 0, 65535));
  settings.dashboard_host = dashboard.text_or("host", settings.dashboard_host);
  settings.certificate_days = static_cast<int>(
      file.table("certificates").integer_or("days", settings.certificate_days, 1, kMaxCertificateDays));
  TRY_STATUS(file.finish());
  if (const Status valid = check_settings(settings); !valid.ok()) return at(path.string(), valid.error());
  return settings;
}

std::string fleet_settings_text(const FleetSettings& settings) {
  return "# The fleet as a whole. `aflguard device ...` and `aflguard fleet ...` read this file; after a "
         "change\n"
         "# here, `aflguard fleet refresh --fleet DIR` brings the broker's files up to date.\n\n"
         "[fleet]\n"
         "name = " +
         toml_text(settings.name) +
         "\n\n"
         "[broker]\n"
         "# As devices and the gateway reach it; its certificate carries this name.\n"
         "host = " +
         toml_text(settings.broker_host) +
         "\n"
         "port = " +
         std::to_string(settings.broker_port) +
         "\n"
         "# The largest message that passes: a whole model, signed (4 bytes per parameter and 64 KiB).\n"
         "message_bytes = " +
         std::to_string(settings.message_bytes) +
         "\n"
         "# What waits for one slow receiver before messages are dropped: one update of every device at "
         "once.\n"
         "queue_bytes = " +
         std::to_string(settings.queue_bytes) +
         "\n"
         "# A shell command that makes the broker read its files again, where a SIGHUP from here does not "
         "reach\n"
         "# it, e.g. \"systemctl reload aflguard-broker\", or one that copies broker/ to another machine "
         "first.\n" +
         (settings.reload_command.empty() ? std::string("# reload = \"\"\n")
                                          : "reload = " + toml_text(settings.reload_command) + "\n") +
         "\n[dashboard]\n"
         "# Where browsers reach the broker (docs/dashboard.md); 0: nowhere. Restart the broker after a "
         "change.\n"
         "port = " +
         std::to_string(settings.dashboard_port) +
         "\n"
         "# The address that it listens on: 127.0.0.1 for this machine only, 0.0.0.0 for all networks.\n"
         "host = " +
         toml_text(settings.dashboard_host) +
         "\n"
         "\n[certificates]\n"
         "# How long new certificates are valid.\n"
         "days = " +
         std::to_string(settings.certificate_days) + "\n";
}

}  // namespace aflguard::fleet
