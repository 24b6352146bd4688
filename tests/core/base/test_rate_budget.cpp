#include "core/base/rate_budget.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {

using std::chrono::milliseconds;
constexpr RateBudget::Time kStart{std::chrono::hours(1)};

int taken(RateBudget& budget, RateBudget::Time from, milliseconds step, int tries) {
  int count = 0;
  for (int i = 0; i < tries; ++i) count += budget.take(from + i * step) ? 1 : 0;
  return count;
}

}  // namespace

TEST("A budget lets a second's worth through at once, and then its rate") {
  RateBudget budget(10);
  TEST_ASSERT_EQUAL_INT(10, taken(budget, kStart, milliseconds(0), 50));
  TEST_ASSERT_INT_WITHIN(1, 100, taken(budget, kStart + milliseconds(10), milliseconds(10), 1000));
  TEST_ASSERT_EQUAL_INT(10, taken(budget, kStart + std::chrono::hours(5), milliseconds(0), 50));
}

TEST("A budget below one per second still lets one through now and then, and a budget of zero never") {
  RateBudget slow(0.5);
  TEST_ASSERT_INT_WITHIN(1, 5, taken(slow, kStart, milliseconds(100), 100));
  RateBudget none(0);
  TEST_ASSERT_EQUAL_INT(0, taken(none, kStart, milliseconds(1000), 100));
}
