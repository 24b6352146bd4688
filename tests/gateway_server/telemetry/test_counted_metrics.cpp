#include <nlohmann/json.hpp>  // before Unity, which defines isnan and isinf

#include "core/base/identifier.h"
#include "core/base/rfc3339.h"
#include "core/verdict/refusal.h"
#include "core/verdict/verdict.h"
#include "gateway_server/telemetry/counted_metrics.h"
#include "tests/core/telemetry/golden.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;
using nlohmann::json;

namespace {

/// What the counters do not hold.
GatewayMetrics measured() {
  GatewayMetrics metrics;
  metrics.fleet = "greenhouse";
  metrics.guard = "aflguard";
  metrics.rss_mb = 48.23456;
  metrics.time = parse_rfc3339("2026-01-31T12:00:00Z").value();
  metrics.uptime_seconds = 12.34567;
  metrics.devices = metrics.devices_connected = metrics.queue = 0;
  metrics.devices_lost = metrics.devices_alert = metrics.devices_suspicious = 0;
  metrics.inbox_bytes = metrics.outbox_bytes = metrics.abandoned = metrics.dropped_messages = 0;
  return metrics;
}

std::string message(GatewayMetrics metrics, const GatewayCounters& counters) {
  add_counters(metrics, counters);
  return to_json(metrics);
}

}  // namespace

TEST("Metrics hold every field of the contract") {
  GatewayCounters counters;
  counters.version = 12;
  counters.accepted = 3;
  counters.rejected = 1;
  counters.rejected_by[static_cast<std::size_t>(Reason::kTooFar)] = 1;
  counters.delay_sum = 6;
  counters.delay_counts[2] = 4;
  GatewayMetrics metrics = measured();
  metrics.updates_per_second = 1.23456;
  metrics.commit_ms = 0.5;
  metrics.reference_version = 10;
  metrics.reference_age_seconds = 4;
  metrics.devices = 5;
  metrics.devices_connected = 4;
  metrics.store_free_bytes = 7;
  metrics.store_total_bytes = 8;
  metrics.refused = {{"malformed", 2}};
  const json told = json::parse(message(metrics, counters));
  for (const char* field : {"schema",
                            "time",
                            "uptime_seconds",
                            "fleet",
                            "guard",
                            "rss_mb",
                            "version",
                            "iteration",
                            "updates",
                            "accepted",
                            "rejected",
                            "altered",
                            "repeats",
                            "rejected_by",
                            "refused",
                            "updates_per_second",
                            "mean_delay",
                            "delay_histogram",
                            "reference_version",
                            "reference_age",
                            "reference_age_seconds",
                            "references",
                            "test_error",
                            "evaluated_version",
                            "devices",
                            "devices_connected",
                            "devices_lost",
                            "devices_alert",
                            "devices_suspicious",
                            "troubles",
                            "queue",
                            "inbox_bytes",
                            "outbox_bytes",
                            "abandoned",
                            "dropped_messages",
                            "commits",
                            "commit_ms",
                            "commit_failures",
                            "replies",
                            "replies_with_model",
                            "replies_dropped",
                            "refusals_answered",
                            "paced",
                            "pause_ms",
                            "recorded_bytes",
                            "store_free_bytes",
                            "store_total_bytes"}) {
    TEST_ASSERT_TRUE_MESSAGE(told.contains(field), field);
  }
  TEST_ASSERT_EQUAL_STRING("2026-01-31T12:00:00Z", told["time"].get<std::string>().c_str());
  TEST_ASSERT_EQUAL_INT(4, told["updates"].get<int>());
  TEST_ASSERT_EQUAL_INT(1, told["rejected_by"]["too-far"].get<int>());
  TEST_ASSERT_EQUAL_DOUBLE(1.5, told["mean_delay"].get<double>());
  TEST_ASSERT_EQUAL_DOUBLE(1.235, told["updates_per_second"].get<double>());
  TEST_ASSERT_EQUAL_INT(2, told["reference_age"].get<int>());
  const json& histogram = told["delay_histogram"];
  TEST_ASSERT_EQUAL_size_t(histogram["bounds"].size() + 1, histogram["counts"].size());
  TEST_ASSERT_EQUAL_INT(2, histogram["bounds"][2].get<int>());
  TEST_ASSERT_EQUAL_INT(4, histogram["counts"][2].get<int>());
}

TEST("Metrics are what they always were") {
  GatewayCounters counters;
  assert_golden("gateway_metrics.minimal", message(measured(), counters));
  counters.iteration = 1500;
  counters.version = 1234;
  counters.accepted = 1159;
  counters.rejected = 341;
  counters.altered = 7;
  counters.repeats = 2;
  counters.rejected_by[static_cast<std::size_t>(Reason::kTooFar)] = 338;
  counters.rejected_by[static_cast<std::size_t>(Reason::kTooOld)] = 3;
  counters.delay_sum = 4650;
  for (std::size_t i = 0; i < counters.delay_counts.size(); ++i) counters.delay_counts[i] = 150 + i;
  counters.references = 300;
  counters.test_error = 0.05461234567;
  counters.evaluated_version = 1230;
  counters.commits = 750;
  counters.commit_failures = counters.replies_dropped = 1;
  counters.replies = 1499;
  counters.refusals_answered = 2;
  counters.paced = 12;
  counters.pause_ms = 1500;
  counters.replies_with_model = 40;
  counters.recorded_bytes = 123456789;
  GatewayMetrics metrics = measured();
  metrics.updates_per_second = 11.03456;
  metrics.commit_ms = 2.12345;
  metrics.reference_version = 1230;
  metrics.reference_age_seconds = 4.5;
  metrics.devices = 12;
  metrics.devices_connected = 11;
  metrics.devices_lost = 1;
  metrics.devices_alert = 2;
  metrics.devices_suspicious = 3;
  metrics.troubles = {"rising-error"};
  metrics.queue = 3;
  metrics.inbox_bytes = 65536;
  metrics.outbox_bytes = 4096;
  metrics.abandoned = 2;
  metrics.dropped_messages = 1;
  metrics.store_free_bytes = 41200000000;
  metrics.store_total_bytes = 62000000000;
  metrics.refused = {{"malformed", 2}, {"replay", 1}};
  assert_golden("gateway_metrics.full", message(metrics, counters));
  metrics.fleet = "Gewächshaus";
  metrics.guard = "wächter";
  assert_golden("gateway_metrics.non_ascii", message(metrics, counters));
}

TEST("What is not known is null, never 0") {
  const GatewayCounters counters;
  const json told = json::parse(message(measured(), counters));
  for (const char* field :
       {"updates_per_second", "mean_delay", "reference_version", "reference_age", "reference_age_seconds",
        "test_error", "evaluated_version", "commit_ms", "store_free_bytes", "store_total_bytes"}) {
    TEST_ASSERT_TRUE_MESSAGE(told.at(field).is_null(), field);
  }
}

TEST("Metrics stay below 4 KB with the longest names, all reasons and the largest figures") {
  constexpr std::uint64_t kMost = UINT64_MAX;
  GatewayCounters counters;
  for (auto* counter :
       {&counters.iteration, &counters.version, &counters.accepted, &counters.rejected, &counters.altered,
        &counters.repeats, &counters.commits, &counters.commit_failures, &counters.references,
        &counters.replies, &counters.replies_with_model, &counters.replies_dropped,
        &counters.refusals_answered, &counters.delay_sum, &counters.paced, &counters.pause_ms,
        &counters.recorded_bytes, &counters.evaluated_version}) {
    *counter = kMost;
  }
  for (int reason = 0; reason <= static_cast<int>(Reason::kResidualTooLong); ++reason) {
    counters.rejected_by[static_cast<std::size_t>(reason)] = kMost;
  }
  for (auto& count : counters.delay_counts) count = kMost;
  counters.test_error = 0.12345678901234567e-100;
  GatewayMetrics metrics = measured();
  const std::string long_name(kMaxIdentifierLength, 'x');
  metrics.fleet = metrics.guard = long_name;
  metrics.updates_per_second = metrics.commit_ms = metrics.reference_age_seconds = 1.7976931348623157e300;
  metrics.reference_version = metrics.store_free_bytes = metrics.store_total_bytes = kMost;
  metrics.devices = metrics.devices_connected = metrics.queue = metrics.inbox_bytes = metrics.outbox_bytes =
      kMost;
  metrics.devices_lost = metrics.devices_alert = metrics.devices_suspicious = kMost;
  metrics.troubles = {"reference", "rising-error", "trusted-set"};
  metrics.abandoned = metrics.dropped_messages = kMost;
  std::map<std::string, std::uint64_t> refused;
  for (int reason = static_cast<int>(RefusalReason::kMalformed);
       reason <= static_cast<int>(RefusalReason::kExpired); ++reason) {
    refused[std::string(to_string(static_cast<RefusalReason>(reason)))] = kMost;
  }
  metrics.refused.assign(refused.begin(), refused.end());
  assert_golden("gateway_metrics.limits", message(metrics, counters));
}
