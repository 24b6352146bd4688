#include <nlohmann/json.hpp>  // before Unity, which defines isnan and isinf

#include "core/base/identifier.h"
#include "core/base/rfc3339.h"
#include "core/verdict/refusal.h"
#include "core/verdict/verdict.h"
#include "gateway_server/telemetry/telemetry.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using nlohmann::json;

namespace {

constexpr std::size_t kLimit = 4096;

TelemetryFacts some_facts() {
  TelemetryFacts facts;
  facts.name = {"greenhouse", "aflguard", "0.1.0"};
  facts.time = parse_rfc3339("2026-01-31T12:00:00Z").value();
  facts.uptime_seconds = 12.34567;
  return facts;
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
  TelemetryFacts facts = some_facts();
  facts.updates_per_second = 1.23456;
  facts.commit_ms = 0.5;
  facts.reference_version = 10;
  facts.reference_age_seconds = 4;
  facts.devices = 5;
  facts.devices_connected = 4;
  facts.store_free_bytes = 7;
  facts.store_total_bytes = 8;
  facts.refused = {{"malformed", 2}};
  const json told = json::parse(metrics_json(counters, facts));
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

TEST("What is not known is null, never 0") {
  const GatewayCounters counters;
  const json told = json::parse(metrics_json(counters, some_facts()));
  for (const char* field :
       {"updates_per_second", "mean_delay", "reference_version", "reference_age", "reference_age_seconds",
        "test_error", "evaluated_version", "commit_ms", "store_free_bytes", "store_total_bytes"}) {
    TEST_ASSERT_TRUE_MESSAGE(told.at(field).is_null(), field);
  }
}

TEST("Every message stays below 4 KB with the longest names, all reasons and the largest figures") {
  constexpr std::uint64_t kMost = UINT64_MAX;
  GatewayCounters counters;
  for (auto* counter :
       {&counters.iteration, &counters.version, &counters.accepted, &counters.rejected, &counters.altered,
        &counters.repeats, &counters.commits, &counters.commit_failures, &counters.references,
        &counters.replies, &counters.replies_with_model, &counters.replies_dropped, &counters.delay_sum,
        &counters.recorded_bytes, &counters.evaluated_version}) {
    *counter = kMost;
  }
  for (int reason = 0; reason <= static_cast<int>(Reason::kResidualTooLong); ++reason) {
    counters.rejected_by[static_cast<std::size_t>(reason)] = kMost;
  }
  for (auto& count : counters.delay_counts) count = kMost;
  counters.test_error = 0.12345678901234567e-100;
  TelemetryFacts facts = some_facts();
  const std::string long_name(kMaxIdentifierLength, 'x');
  facts.name = {long_name, long_name, long_name};
  facts.updates_per_second = facts.commit_ms = facts.reference_age_seconds = 1.7976931348623157e300;
  facts.reference_version = facts.store_free_bytes = facts.store_total_bytes = kMost;
  facts.devices = facts.devices_connected = facts.waiting = facts.inbox_bytes = facts.outbox_bytes = kMost;
  facts.abandoned = facts.dropped_messages = kMost;
  for (int reason = static_cast<int>(RefusalReason::kMalformed);
       reason <= static_cast<int>(RefusalReason::kExpired); ++reason) {
    facts.refused[std::string(to_string(static_cast<RefusalReason>(reason)))] = kMost;
  }
  TEST_ASSERT_EQUAL_size_t(13, facts.refused.size());
  TEST_ASSERT_LESS_THAN_size_t(kLimit, metrics_json(counters, facts).size());
  const std::string worst(10'000, '\x01');
  TEST_ASSERT_LESS_THAN_size_t(kLimit, status_json("disconnected", facts.name, worst).size());
  TEST_ASSERT_LESS_THAN_size_t(kLimit, event_json("store-failing", long_name, worst, facts.time).size());
}

TEST("Status and events say who, what and when") {
  TEST_ASSERT_EQUAL_STRING(
      R"({"schema":"aflguard-gateway-status-1","state":"lost","fleet":"greenhouse","guard":"aflguard",)"
      R"("software":"0.1.0","message":"gone"})",
      status_json("lost", some_facts().name, "gone").c_str());
  TEST_ASSERT_EQUAL_STRING(
      R"({"schema":"aflguard-event-1","time":"2026-01-31T12:00:00Z","kind":"rejected","device":"pi-9","text":"far"})",
      event_json("rejected", "pi-9", "far", some_facts().time).c_str());
  TEST_ASSERT_EQUAL_STRING(
      R"({"schema":"aflguard-event-1","time":"2026-01-31T12:00:00Z","kind":"started","text":""})",
      event_json("started", "", "", some_facts().time).c_str());
}
