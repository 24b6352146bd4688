#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/result.h"

namespace aflguard::fleet {

/// What holds for a whole fleet: fleet.toml.
struct FleetSettings {
  std::string name{};
  std::string broker_host =
      "localhost";  ///< as devices and the gateway reach it; the broker's certificate says it
  std::uint16_t broker_port = 8883;
  /// The largest message that the broker lets through: a whole model, signed.
  std::uint64_t message_bytes = (16u << 20) + (64u << 10);
  /// What the broker keeps for one slow receiver before it drops messages. The default holds one update of
  /// 560 KB from each of 1000 devices at once: a gateway that pauses loses nothing.
  std::uint64_t queue_bytes = 600u << 20;
  /// How the broker is told to read its files again; empty: SIGHUP to the process in its pid file.
  std::string reload_command{};
  /// Where browsers reach the broker, by WebSocket over TLS; 0: nowhere.
  std::uint16_t dashboard_port = 0;
  std::string dashboard_host = "127.0.0.1";  ///< the address that this listener is bound to
  int certificate_days = 730;

  friend bool operator==(const FleetSettings&, const FleetSettings&) = default;
};

/// kInvalidInput that names the value and its limits.
[[nodiscard]] Status check_settings(const FleetSettings& settings);

/// kNotFound when there is no such file; kInvalidInput with file and line for everything else.
[[nodiscard]] Result<FleetSettings> read_fleet_settings(const std::filesystem::path& path);

/// The file's text, with every option explained.
[[nodiscard]] std::string fleet_settings_text(const FleetSettings& settings);

/// True when `host` is an address in numbers, not a name.
[[nodiscard]] bool is_ip_address(const std::string& host);
/// True when `host` means this machine only.
[[nodiscard]] bool is_loopback(const std::string& host);

}  // namespace aflguard::fleet
