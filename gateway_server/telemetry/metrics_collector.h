#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

#include "core/base/clock.h"
#include "core/telemetry/gateway_metrics.h"
#include "gateway_server/judging/gateway_counters.h"
#include "gateway_server/telemetry/gateway_name.h"

namespace aflguard::gateway {

/// What waits in the gateway, and what it had to drop, at one moment.
struct GatewayLoad {
  std::uint64_t waiting = 0;       ///< updates between arrival and verdict
  std::uint64_t inbox_bytes = 0;   ///< of unfinished transfers
  std::uint64_t outbox_bytes = 0;  ///< of answers on their way
  std::uint64_t abandoned = 0;     ///< transfers that were never finished
  std::uint64_t dropped_messages = 0;
};

/// The gateway's figures beside its counters: ages, rates, load, free space. One thread.
class MetricsCollector final {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `store_folder` is where free space matters. `counters` and `clock` are borrowed. Uptime and the first
  /// interval begin now.
  MetricsCollector(GatewayName name, std::filesystem::path store_folder, const GatewayCounters& counters,
                   const Clock& clock);

  /// The name of the guard in force from now on.
  void set_guard(const std::string& guard) { name_.guard = guard; }
  /// As things are at `now`; devices and refusals are filled in by others.
  [[nodiscard]] GatewayMetrics collect(Time now, const GatewayLoad& load) const;
  /// Adds the rates since the call before, and begins a new interval.
  void add_interval(GatewayMetrics& metrics, Time now);

 private:
  /// The counters when the interval began.
  struct Begin {
    std::uint64_t judged = 0;
    std::uint64_t commits = 0;
    std::uint64_t commit_microseconds = 0;
    Time at{};
  };

  GatewayName name_;
  const std::filesystem::path store_folder_;
  const GatewayCounters& counters_;
  const Clock& clock_;
  const Time started_;
  Begin interval_;
};

}  // namespace aflguard::gateway
