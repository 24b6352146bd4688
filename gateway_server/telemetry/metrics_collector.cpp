#include "gateway_server/telemetry/metrics_collector.h"

#include "core/system/disk_space.h"

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

TelemetryFacts MetricsCollector::collect(Time now, const GatewayLoad& load) const {
  TelemetryFacts facts;
  facts.name = name_;
  facts.time = clock_.wall();
  facts.uptime_seconds = std::chrono::duration<double>(now - started_).count();
  if (const std::int64_t version = counters_.reference_version; version >= 0) {
    facts.reference_version = static_cast<std::uint64_t>(version);
  }
  if (const std::int64_t came = counters_.reference_ms; came >= 0) {
    facts.reference_age_seconds =
        std::chrono::duration<double>(now - Time(std::chrono::milliseconds(came))).count();
  }
  if (const auto space = disk_space(store_folder_)) {
    facts.store_free_bytes = space->free_bytes;
    facts.store_total_bytes = space->total_bytes;
  }
  facts.waiting = load.waiting;
  facts.inbox_bytes = load.inbox_bytes;
  facts.outbox_bytes = load.outbox_bytes;
  facts.abandoned = load.abandoned;
  facts.dropped_messages = load.dropped_messages;
  return facts;
}

void MetricsCollector::add_interval(TelemetryFacts& facts, Time now) {
  const Begin before = interval_;
  interval_ = {counters_.accepted + counters_.rejected, counters_.commits, counters_.commit_microseconds,
               now};
  if (const double seconds = std::chrono::duration<double>(now - before.at).count(); seconds > 0) {
    facts.updates_per_second = static_cast<double>(interval_.judged - before.judged) / seconds;
  }
  if (const std::uint64_t commits = interval_.commits - before.commits; commits > 0) {
    facts.commit_ms = static_cast<double>(interval_.commit_microseconds - before.commit_microseconds) / 1000 /
                      static_cast<double>(commits);
  }
}

}  // namespace aflguard::gateway
