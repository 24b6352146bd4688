#include "edge_client/training/quiet_hours.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;
using namespace aflguard::testing;

TEST("Quiet hours go from their beginning up to their end, over midnight too") {
  const auto night = parse_quiet_hours("22:00-06:30");
  ASSERT_OK(night);
  TEST_ASSERT_TRUE(night->contain(22 * 60) && night->contain(0) && night->contain(6 * 60 + 29));
  TEST_ASSERT_FALSE(night->contain(6 * 60 + 30) || night->contain(12 * 60) || night->contain(22 * 60 - 1));
  const auto noon = parse_quiet_hours("12:00-13:00");
  ASSERT_OK(noon);
  TEST_ASSERT_TRUE(noon->contain(12 * 60) && noon->contain(12 * 60 + 59));
  TEST_ASSERT_FALSE(noon->contain(13 * 60) || noon->contain(0));
}

TEST("What is not a span of the day is refused by name") {
  for (const char* text : {"", "22:00", "22:00-", "24:00-06:00", "22:60-06:00", "22-06", "2:00-06:00",
                           "22:00-22:00", "22:00-06:00 ", "aa:00-06:00", "-22:00-06:00"}) {
    ASSERT_CONTAINS(message_of(parse_quiet_hours(text)), "'" + std::string(text) + "' is not a time of day");
  }
}
