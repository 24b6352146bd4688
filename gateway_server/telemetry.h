#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "gateway_server/gateway_counters.h"

namespace aflguard {

/// What telemetry says that the counters do not hold.
struct TelemetryFacts {
  std::string fleet;
  std::string guard;
  std::string software;
  std::uint64_t devices = 0;  ///< enrolled
  std::uint64_t waiting = 0;  ///< updates between arrival and verdict
  std::uint64_t inbox_bytes = 0;
  std::uint64_t outbox_bytes = 0;
  std::uint64_t abandoned = 0;  ///< transfers that were never finished
  std::uint64_t dropped_messages = 0;
  double uptime_seconds = 0;
  double updates_per_second = 0;
  std::map<std::string, std::uint64_t> refused;  ///< by reason
};

/// JSON of docs/gateway.md for the topics gateway/metrics, gateway/status and events; below 4 KB.
[[nodiscard]] std::string metrics_json(const GatewayCounters& counters, const TelemetryFacts& facts);
[[nodiscard]] std::string status_json(std::string_view state, const TelemetryFacts& facts,
                                      std::string_view message);
[[nodiscard]] std::string event_json(std::string_view kind, std::string_view text,
                                     std::chrono::system_clock::time_point when);

}  // namespace aflguard
