#include "gateway_server/telemetry/metrics_collector.h"

#include "core/system/machine/disk_space.h"
#include "core/system/machine/process_memory.h"

namespace aflguard::gateway {

MetricsCollector::MetricsCollector(GatewayName name, std::filesystem::path store_folder,
                                   const GatewayCounters& counters, const Clock& clock)
    : name_(std::move(name)),
      store_folder_(std::move(store_folder)),
      counters_(counters),
      clock_(clock),
      started_(clock.steady()) {
  interval_.at = started_;
}

GatewayMetrics MetricsCollector::collect(Time now, const GatewayLoad& load) const {
  GatewayMetrics metrics;
  metrics.fleet = name_.fleet;
  metrics.guard = name_.guard;
  metrics.rss_mb = resident_megabytes();
  metrics.time = clock_.wall();
  metrics.uptime_seconds = std::chrono::duration<double>(now - started_).count();
  if (const std::int64_t version = counters_.reference_version; version >= 0) {
    metrics.reference_version = static_cast<std::uint64_t>(version);
  }
  if (const std::int64_t came = counters_.reference_ms; came >= 0) {
    metrics.reference_age_seconds =
        std::chrono::duration<double>(now - Time(std::chrono::milliseconds(came))).count();
  }
  if (const auto space = disk_space(store_folder_)) {
    metrics.store_free_bytes = space->free_bytes;
    metrics.store_total_bytes = space->total_bytes;
  }
  metrics.queue = load.waiting;
  metrics.inbox_bytes = load.inbox_bytes;
  metrics.outbox_bytes = load.outbox_bytes;
  metrics.abandoned = load.abandoned;
  metrics.dropped_messages = load.dropped_messages;
  return metrics;
}

void MetricsCollector::add_interval(GatewayMetrics& metrics, Time now) {
  const Begin before = interval_;
  interval_ = {counters_.accepted + counters_.rejected, counters_.commits, counters_.commit_microseconds,
               now};
  if (const double seconds = std::chrono::duration<double>(now - before.at).count(); seconds > 0) {
    metrics.updates_per_second = static_cast<double>(interval_.judged - before.judged) / seconds;
  }
  if (const std::uint64_t commits = interval_.commits - before.commits; commits > 0) {
    metrics.commit_ms = static_cast<double>(interval_.commit_microseconds - before.commit_microseconds) /
                        1000 / static_cast<double>(commits);
  }
}

}  // namespace aflguard::gateway
