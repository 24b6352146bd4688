#include "bench/offline/day_plan.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::bench;

TEST("A device sends most at the busiest hour and least twelve hours later") {
  const DayPlan plan;
  TEST_ASSERT_EQUAL_DOUBLE(plan.most_per_hour, plan.per_hour(plan.busiest_hour));
  TEST_ASSERT_EQUAL_DOUBLE(plan.least_per_hour, plan.per_hour(plan.busiest_hour - 12));
  TEST_ASSERT_DOUBLE_WITHIN(1e-9, plan.per_hour(1), plan.per_hour(25));
}

TEST("Links are drawn by their shares, waits by their mean") {
  Random random(3);
  double links[kDayLinkCount] = {};
  double waited = 0;
  constexpr int kDrawn = 20'000;
  for (int i = 0; i < kDrawn; ++i) {
    links[draw_link(random)] += 1.0 / kDrawn;
    waited += draw_wait(random, 5) / kDrawn;
  }
  for (std::size_t i = 0; i < kDayLinkCount; ++i)
    TEST_ASSERT_DOUBLE_WITHIN(0.02, kDayLinks[i].share, links[i]);
  TEST_ASSERT_DOUBLE_WITHIN(0.2, 5, waited);
}
