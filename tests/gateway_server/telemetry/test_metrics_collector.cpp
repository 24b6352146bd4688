#include "gateway_server/telemetry/metrics_collector.h"
#include "tests/gateway_server/judging/fake_parts.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

struct CollectorBench {
  TemporaryFolder folder;
  SteppedClock clock;
  GatewayCounters counters;
  MetricsCollector collector{{"orchard", "aflguard", "0.1.0"}, folder.path(), counters, clock};
};

}  // namespace

TEST("Load, uptime, free space and the reference's age are as they are now") {
  CollectorBench bench;
  bench.clock.advance(std::chrono::seconds(5));
  bench.counters.reference_version = 4;
  bench.counters.reference_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(bench.clock.steady().time_since_epoch()).count();
  bench.clock.advance(std::chrono::seconds(3));
  const GatewayMetrics metrics = bench.collector.collect(
      bench.clock.steady(),
      {.waiting = 1, .inbox_bytes = 2, .outbox_bytes = 3, .abandoned = 4, .dropped_messages = 5});
  TEST_ASSERT_EQUAL_STRING("orchard", metrics.fleet.c_str());
  TEST_ASSERT_TRUE(metrics.time == bench.clock.wall());
  TEST_ASSERT_EQUAL_DOUBLE(8, metrics.uptime_seconds.value());
  TEST_ASSERT_EQUAL_UINT64(4, metrics.reference_version.value());
  TEST_ASSERT_EQUAL_DOUBLE(3, metrics.reference_age_seconds.value());
  TEST_ASSERT_TRUE(metrics.store_free_bytes.value() <= metrics.store_total_bytes.value());
  TEST_ASSERT_EQUAL_UINT64(1, metrics.queue.value());
  TEST_ASSERT_EQUAL_UINT64(2, metrics.inbox_bytes.value());
  TEST_ASSERT_EQUAL_UINT64(3, metrics.outbox_bytes.value());
  TEST_ASSERT_EQUAL_UINT64(4, metrics.abandoned.value());
  TEST_ASSERT_EQUAL_UINT64(5, metrics.dropped_messages.value());
}

TEST("Without a reference there is neither its version nor its age") {
  CollectorBench bench;
  const GatewayMetrics metrics = bench.collector.collect(bench.clock.steady(), {});
  TEST_ASSERT_FALSE(metrics.reference_version.has_value() || metrics.reference_age_seconds.has_value());
}

TEST("Rates are of the last interval, and absent where nothing was committed") {
  CollectorBench bench;
  bench.counters.accepted = 6;
  bench.counters.rejected = 4;
  bench.counters.commits = 5;
  bench.counters.commit_microseconds = 10'000;
  bench.clock.advance(std::chrono::seconds(2));
  GatewayMetrics first;
  bench.collector.add_interval(first, bench.clock.steady());
  TEST_ASSERT_EQUAL_DOUBLE(5, first.updates_per_second.value());
  TEST_ASSERT_EQUAL_DOUBLE(2, first.commit_ms.value());
  bench.counters.accepted = 7;
  bench.clock.advance(std::chrono::seconds(2));
  GatewayMetrics second;
  bench.collector.add_interval(second, bench.clock.steady());
  TEST_ASSERT_EQUAL_DOUBLE(0.5, second.updates_per_second.value());
  TEST_ASSERT_FALSE(second.commit_ms.has_value());
  GatewayMetrics at_once;
  bench.collector.add_interval(at_once, bench.clock.steady());
  TEST_ASSERT_FALSE(at_once.updates_per_second.has_value());
}
