#include "edge_client/training/training_schedule.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;
using namespace std::chrono_literals;

namespace {

constexpr TrainingSchedule::Steady::time_point kStart{1000s};

}  // namespace

TEST("Nothing stands in the way of the first training, nor of the next by default") {
  TrainingSchedule schedule({});
  TEST_ASSERT_TRUE(schedule.wait(kStart, 0) == 0s);
  schedule.trained(kStart, 100ms);
  TEST_ASSERT_TRUE(schedule.wait(kStart + 100ms, 0) == 0s);
}

TEST("The interval counts from start to start") {
  TrainingSchedule schedule({.interval = 60s});
  schedule.trained(kStart, 1s);
  TEST_ASSERT_TRUE(schedule.wait(kStart + 10s, 0) == 50s);
  TEST_ASSERT_TRUE(schedule.wait(kStart + 60s, 0) == 0s);
}

TEST("A pause that the gateway asked for holds beside the interval, whichever is longer") {
  TrainingSchedule schedule({.interval = 60s});
  schedule.trained(kStart, 1s);
  schedule.pause_until(kStart + 300s);
  TEST_ASSERT_TRUE(schedule.paused(kStart + 299s));
  TEST_ASSERT_TRUE(schedule.wait(kStart, 0) == 300s);
  schedule.pause_until(kStart + 20s);
  TEST_ASSERT_TRUE(schedule.wait(kStart, 0) == 60s);
  TEST_ASSERT_FALSE(schedule.paused(kStart + 20s));
}

TEST("A limit of a quarter of a core waits three times as long as it computed") {
  TrainingSchedule schedule({.cpu_limit = 0.25});
  schedule.trained(kStart, 2s);
  TEST_ASSERT_TRUE(schedule.wait(kStart + 2s, 0) == 6s);
  TEST_ASSERT_TRUE(schedule.wait(kStart + 8s, 0) == 0s);
}

TEST("In quiet hours nothing starts, and the clock is looked at every minute") {
  TrainingSchedule schedule({.interval = 10s, .quiet_hours = {{22 * 60, 6 * 60}}});
  TEST_ASSERT_TRUE(schedule.quiet(23 * 60));
  TEST_ASSERT_TRUE(schedule.wait(kStart, 23 * 60) == 60s);
  TEST_ASSERT_TRUE(schedule.wait(kStart, 12 * 60) == 0s);
  schedule.trained(kStart, 1s);
  TEST_ASSERT_TRUE(schedule.wait(kStart, 23 * 60) == 10s);
}

TEST("Changed settings also decide when the training after the last one may start") {
  TrainingSchedule schedule({.interval = 3600s});
  schedule.change({.interval = 60s});  // nothing was trained yet
  TEST_ASSERT_TRUE(schedule.wait(kStart, 0) == 0s);
  schedule.trained(kStart, 2s);
  schedule.change({.interval = 3600s});
  TEST_ASSERT_TRUE(schedule.wait(kStart, 0) == 3600s);
  schedule.change({.cpu_limit = 0.25});
  TEST_ASSERT_TRUE(schedule.wait(kStart, 0) == 8s);
}
