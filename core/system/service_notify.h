#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace aflguard {

/// What a service tells systemd (Type=notify, sd_notify's protocol): one datagram to the socket named by
/// NOTIFY_SOCKET. Outside systemd these do nothing. True when the datagram was handed over.
bool notify_ready();
bool notify_stopping();
/// One line for `systemctl status`.
bool notify_status(std::string_view text);
/// "I am alive": call it at least twice per watchdog_interval().
bool notify_watchdog();

/// How long systemd waits for the next notify_watchdog() before it restarts the service; none when it does
/// not watch this process.
[[nodiscard]] std::optional<std::chrono::microseconds> watchdog_interval();

}  // namespace aflguard
