#include "gateway_server/telemetry/gateway_health.h"
#include "tests/gateway_server/judging/fake_parts.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

struct HealthBench {
  SteppedClock clock;
  GatewayCounters counters;
  GatewayHealth health{counters, clock};

  void judging_moves() {
    counters.judge_alive_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(clock.steady().time_since_epoch()).count();
  }
};

void expect(const std::vector<std::string>& wanted, const GatewayHealth& health) {
  TEST_ASSERT_TRUE(wanted == health.problems());
}

}  // namespace

TEST("A gateway is healthy while it is connected, its store works and its threads move") {
  HealthBench bench;
  bench.judging_moves();
  expect({"the broker is away"}, bench.health);
  bench.health.set_connected(true);
  expect({}, bench.health);
  bench.counters.store_failing = true;
  expect({"the store cannot be written"}, bench.health);
  bench.counters.store_failing = false;
  bench.health.set_connected(false);
  expect({"the broker is away"}, bench.health);
}

TEST("A thread that has not moved for longer than the longest silence hangs") {
  HealthBench bench;
  bench.health.set_connected(true);
  bench.judging_moves();
  bench.clock.advance(GatewayHealth::kLongestSilence);
  expect({}, bench.health);
  bench.clock.advance(std::chrono::milliseconds(1));
  TEST_ASSERT_TRUE(bench.health.judging_hangs());
  expect({"the judging thread hangs", "the thread of the broker's messages hangs"}, bench.health);
  bench.health.note_bus_thread();
  expect({"the judging thread hangs"}, bench.health);
  bench.judging_moves();
  TEST_ASSERT_FALSE(bench.health.judging_hangs());
  expect({}, bench.health);
}
