#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway_server/judging/gateway_counters.h"

namespace aflguard::gateway {

/// Who speaks in gateway/status and gateway/metrics.
struct GatewayName {
  std::string fleet;
  std::string guard;
  std::string software;
};

/// What telemetry says that the counters do not hold. What is not known is absent.
struct TelemetryFacts {
  GatewayName name;
  std::chrono::system_clock::time_point time{};
  double uptime_seconds = 0;
  std::optional<double> updates_per_second;        ///< of the last interval
  std::optional<double> commit_ms;                 ///< mean of the last interval's commits
  std::optional<std::uint64_t> reference_version;  ///< absent when the guard needs no reference
  std::optional<double> reference_age_seconds;
  std::uint64_t devices = 0;  ///< enrolled
  std::uint64_t devices_connected = 0;
  std::uint64_t waiting = 0;  ///< updates between arrival and verdict
  std::uint64_t inbox_bytes = 0;
  std::uint64_t outbox_bytes = 0;
  std::uint64_t abandoned = 0;  ///< transfers that were never finished
  std::uint64_t dropped_messages = 0;
  std::optional<std::uint64_t> store_free_bytes;  ///< of the file system that holds the store
  std::optional<std::uint64_t> store_total_bytes;
  std::map<std::string, std::uint64_t> refused;  ///< by reason
};

/// The JSON of docs/topics.md; each below 4 KB.
[[nodiscard]] std::string metrics_json(const GatewayCounters& counters, const TelemetryFacts& facts);
[[nodiscard]] std::string status_json(std::string_view state, const GatewayName& name,
                                      std::string_view message);
/// Without a device where `device` is empty.
[[nodiscard]] std::string event_json(std::string_view kind, std::string_view device, std::string_view text,
                                     std::chrono::system_clock::time_point when);

/// What /healthz says: healthy when there are no problems.
[[nodiscard]] std::string health_json(const std::vector<std::string>& problems);

}  // namespace aflguard::gateway
