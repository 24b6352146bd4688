#include <cmath>

#include "gateway_server/history/history_collector.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;

namespace {

constexpr std::int64_t kCollectedFrom = 1'769'860'800'000;

JudgedUpdate judged(ClientId id, bool accepted, double distance, double bound, std::uint64_t delay) {
  JudgedUpdate update;
  update.id = id;
  update.verdict.accepted = accepted;
  update.verdict.distance = distance;
  update.verdict.bound = bound;
  update.verdict.delay = delay;
  return update;
}

}  // namespace

TEST("What happens within ten seconds of the wall clock makes one batch") {
  HistoryCollector collector;
  TEST_ASSERT_FALSE(collector.close_step(kCollectedFrom + 3000, {.accepted = 5}).has_value());
  collector.add(judged(1, true, 2, 4, 1));
  collector.add(judged(1, false, 6, 4, 3));
  collector.add(judged(1, false, std::nan(""), 4, 0));
  collector.add(judged(2, true, 1, 4, 0));
  TEST_ASSERT_FALSE(collector.close_step(kCollectedFrom + 9999, {.accepted = 6}).has_value());
  const auto batch = collector.close_step(
      kCollectedFrom + 10'000,
      {.version = 9, .accepted = 7, .rejected = 2, .refused = 1, .delay_sum = 4, .test_error = 0.5});
  TEST_ASSERT_TRUE(batch.has_value());
  TEST_ASSERT_EQUAL_INT64(kCollectedFrom, batch->fleet.time_ms);
  TEST_ASSERT_EQUAL_UINT64(9, batch->fleet.version);
  TEST_ASSERT_EQUAL_UINT64(2, batch->fleet.accepted);
  TEST_ASSERT_EQUAL_UINT64(2, batch->fleet.rejected);
  TEST_ASSERT_EQUAL_UINT64(1, batch->fleet.refused);
  TEST_ASSERT_EQUAL_UINT64(4, batch->fleet.delay_sum);
  TEST_ASSERT_EQUAL_DOUBLE(0.5, *batch->fleet.test_error);
  TEST_ASSERT_EQUAL_size_t(2, batch->devices.size());
  const DevicePoint& first = batch->devices[0];
  TEST_ASSERT_TRUE(first.device == 1 && first.accepted == 1 && first.rejected == 2 && first.delay_sum == 4);
  TEST_ASSERT_TRUE(first.measured == 2 && first.distance_sum == 8 && first.bound_sum == 8);
  const auto empty =
      collector.close_step(kCollectedFrom + 20'000, {.version = 9, .accepted = 7, .rejected = 2});
  TEST_ASSERT_TRUE(empty->devices.empty());
  TEST_ASSERT_EQUAL_UINT64(0, empty->fleet.accepted);
}

TEST("A clock that goes back closes the step too, and a stop closes what there is") {
  HistoryCollector collector;
  TEST_ASSERT_FALSE(collector.close_now({}).has_value());
  (void)collector.close_step(kCollectedFrom, {});
  const auto back = collector.close_step(kCollectedFrom - 86'400'000, {.accepted = 1});
  TEST_ASSERT_EQUAL_INT64(kCollectedFrom, back->fleet.time_ms);
  const auto stopped = collector.close_now({.accepted = 3});
  TEST_ASSERT_EQUAL_INT64(kCollectedFrom - 86'400'000, stopped->fleet.time_ms);
  TEST_ASSERT_EQUAL_UINT64(2, stopped->fleet.accepted);
}
