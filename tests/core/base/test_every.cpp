#include "core/base/every.h"
#include "tests/support/test.h"

using namespace aflguard;

TEST("What repeats is due at once, and then once in each interval, counted from when it was taken") {
  Every every(std::chrono::seconds(2));
  Every::Time now{std::chrono::hours(1)};
  TEST_ASSERT_TRUE(every.due(now));
  TEST_ASSERT_FALSE(every.due(now));
  now += std::chrono::milliseconds(1999);
  TEST_ASSERT_FALSE(every.due(now));
  now += std::chrono::milliseconds(2);
  TEST_ASSERT_TRUE(every.due(now));
  now += std::chrono::milliseconds(1999);
  TEST_ASSERT_FALSE(every.due(now));
  now += std::chrono::milliseconds(1);
  TEST_ASSERT_TRUE(every.due(now));
}
