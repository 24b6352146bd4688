#include <csignal>

#include "tests/scenarios/live_fleet.h"
#include "tests/support/jumping_clock.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

TEST("A gateway whose clock jumps by hours goes on as if nothing had happened") {
  LiveFleet fleet;
  fleet.enrol("pi-1");
  JumpingClock date(fleet.path());
  fleet.launch_gateway(date.environment());
  fleet.wait_for_log("ready: connected");
  HandDevice device(fleet, "pi-1");
  std::uint64_t sequence = 0;
  for (const char* offset : {"+0", "+6h", "-6h", "+12h", "-300d", "+0"}) {
    date.set(offset);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 3; ++i) {
      const VerdictMessage verdict = device.insist(device.update(sequence + 1, sequence, 1));
      TEST_ASSERT_TRUE_MESSAGE(verdict.accepted, offset);
      TEST_ASSERT_EQUAL_UINT64(++sequence, verdict.version);
    }
    TEST_ASSERT_TRUE(std::chrono::steady_clock::now() - begin < kLong);
    (void)fleet.wait_for_metrics([&](const std::string& text) {
      return nlohmann::json::parse(text).at("version").get<std::uint64_t>() == sequence;
    });
  }
  TEST_ASSERT_EQUAL_UINT64(1, fleet.count_in_log("ready: connected"));  // no link was lost over it
  TEST_ASSERT_EQUAL_INT(0, fleet.end_gateway(SIGTERM));
  std::uint64_t iteration = 0;
  for (const VerdictRecord& record : fleet.history()) TEST_ASSERT_EQUAL_UINT64(++iteration, record.iteration);
  TEST_ASSERT_EQUAL_UINT64(sequence, iteration);
}

TEST("A clock that is years ahead makes certificates look ended, and is forgiven when it is set right") {
  LiveFleet fleet;
  fleet.enrol("pi-1");
  JumpingClock date(fleet.path());
  fleet.launch_gateway(date.environment());
  fleet.wait_for_log("ready: connected");
  HandDevice device(fleet, "pi-1");
  TEST_ASSERT_TRUE(device.insist(device.update(1, 0, 1)).accepted);
  date.set("+3y");
  device.send(device.seal(device.update(2, 1, 1)));
  fleet.wait_for_refusals("expired", 1);
  date.set("+0");
  TEST_ASSERT_EQUAL_UINT64(2, device.insist(device.update(2, 1, 1)).version);
}
