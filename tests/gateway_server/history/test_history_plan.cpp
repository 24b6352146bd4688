#include "gateway_server/history/history_plan.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;

namespace {

constexpr std::int64_t kNow = 1'769'860'800'000;
constexpr std::int64_t kHour = 3'600'000;

HistoryPlan plan(std::int64_t span, std::int64_t points, std::int64_t ago = 0) {
  return plan_history({"", "", kNow - ago - span, kNow - ago, points}, kNow);
}

}  // namespace

TEST("An answer has no more points than wanted, and the finest step that is kept") {
  TEST_ASSERT_EQUAL_INT64(10'000, plan(kHour, 500).step_ms);
  TEST_ASSERT_EQUAL_INT64(20'000, plan(kHour, 181).step_ms);
  TEST_ASSERT_EQUAL_size_t(0, plan(24 * kHour - 60'000, 300).level);
  TEST_ASSERT_EQUAL_size_t(1, plan(24 * kHour, 288).level);
  TEST_ASSERT_EQUAL_INT64(300'000, plan(24 * kHour, 289).step_ms);
  // Yesterday's ten seconds are gone; last year's five minutes too.
  TEST_ASSERT_EQUAL_size_t(1, plan(kHour, 500, 48 * kHour).level);
  TEST_ASSERT_EQUAL_size_t(2, plan(kHour, 500, 400 * 24 * kHour).level);
  for (const std::int64_t points : {1, 2, 7, 100, 499, 500}) {
    for (const std::int64_t span :
         {std::int64_t{1}, std::int64_t{9'999}, kHour, 25 * kHour, 5000 * 24 * kHour}) {
      for (const std::int64_t ago : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1'234'567}}) {
        const HistoryPlan made = plan(span, points, ago);
        const std::int64_t whole = kNow - ago - made.begin_ms;
        TEST_ASSERT_TRUE((whole + made.step_ms - 1) / made.step_ms <= points);
        TEST_ASSERT_TRUE(made.begin_ms <= kNow - ago - span);
        TEST_ASSERT_EQUAL_INT64(0, made.step_ms % kHistoryLevels[made.level].step_ms);
      }
    }
  }
}

TEST("Fine points add up to coarse ones") {
  std::vector<FleetPoint> fine;
  for (int i = 0; i < 6; ++i) fine.push_back({1000 + i * 10, 5U + static_cast<unsigned>(i), 1, 2, 0, 6, {}});
  fine[4].test_error = 0.25;
  fine.erase(fine.begin() + 1);
  const auto coarse = gather(fine, {0, 1000, 20});
  TEST_ASSERT_EQUAL_size_t(3, coarse.size());
  TEST_ASSERT_TRUE(coarse[0].time_ms == 1000 && coarse[0].accepted == 1);
  TEST_ASSERT_TRUE(coarse[1].time_ms == 1020 && coarse[1].accepted == 2 && coarse[1].version == 8);
  TEST_ASSERT_TRUE(coarse[2].test_error == 0.25 && coarse[2].version == 10 && coarse[2].delay_sum == 12);
}
