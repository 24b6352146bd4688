#include "gateway_server/telemetry/counted_metrics.h"

#include <algorithm>

#include "core/verdict/verdict.h"

namespace aflguard::gateway {
namespace {

ReasonCounts rejected_by(const GatewayCounters& counters) {
  ReasonCounts reasons;
  for (std::size_t i = 0; i < GatewayCounters::kReasons; ++i) {
    if (const std::uint64_t count = counters.rejected_by[i]; count > 0) {
      reasons.emplace_back(to_string(static_cast<Reason>(i)), count);
    }
  }
  return reasons;
}

void add_learning(GatewayMetrics& metrics, const GatewayCounters& counters) {
  const std::uint64_t accepted = counters.accepted;
  const std::uint64_t rejected = counters.rejected;
  const std::uint64_t judged = accepted + rejected;
  metrics.version = counters.version;
  metrics.iteration = counters.iteration;
  metrics.updates = judged;
  metrics.accepted = accepted;
  metrics.rejected = rejected;
  metrics.altered = counters.altered;
  metrics.rejected_by = rejected_by(counters);
  metrics.repeats = counters.repeats;
  if (judged > 0) metrics.mean_delay = static_cast<double>(counters.delay_sum) / static_cast<double>(judged);
  metrics.delay_histogram.bounds.assign(kDelayBounds.begin(), kDelayBounds.end());
  metrics.delay_histogram.counts.assign(counters.delay_counts.begin(), counters.delay_counts.end());
}

void add_reference(GatewayMetrics& metrics, const GatewayCounters& counters) {
  const std::uint64_t version = counters.version;
  if (metrics.reference_version) {
    metrics.reference_age = version - std::min<std::uint64_t>(version, *metrics.reference_version);
  }
  metrics.references = counters.references;
  if (const double error = counters.test_error; error >= 0) {
    metrics.test_error = error;
    metrics.evaluated_version = counters.evaluated_version;
  }
}

}  // namespace

void add_counters(GatewayMetrics& metrics, const GatewayCounters& counters) {
  add_learning(metrics, counters);
  add_reference(metrics, counters);
  metrics.commits = counters.commits;
  metrics.commit_failures = counters.commit_failures;
  metrics.replies = counters.replies;
  metrics.replies_with_model = counters.replies_with_model;
  metrics.replies_dropped = counters.replies_dropped;
  metrics.refusals_answered = counters.refusals_answered;
  metrics.paced = counters.paced;
  metrics.pause_ms = counters.pause_ms;
  metrics.recorded_bytes = counters.recorded_bytes;
}

}  // namespace aflguard::gateway
