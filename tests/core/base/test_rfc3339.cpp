#include "core/base/rfc3339.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace std::chrono;

TEST("A moment is written in UTC to the second and read back as it was") {
  const auto moment = sys_days(year(2026) / 2 / 28) + hours(23) + minutes(59) + seconds(58);
  TEST_ASSERT_EQUAL_STRING("2026-02-28T23:59:58Z", to_rfc3339(moment + milliseconds(999)).c_str());
  const auto read = parse_rfc3339("2026-02-28T23:59:58Z");
  ASSERT_OK(read);
  TEST_ASSERT_TRUE(*read == moment);
}

TEST("Moments before 1970 are written right too") {
  TEST_ASSERT_EQUAL_STRING("1969-12-31T23:59:59Z",
                           to_rfc3339(system_clock::time_point(milliseconds(-1))).c_str());
}

TEST("What the system clock cannot count to is written all the same, and read as its last or first moment") {
  const sys_seconds late = sys_days(year(9999) / 12 / 31) + hours(23);
  TEST_ASSERT_EQUAL_STRING("9999-12-31T23:00:00Z", to_rfc3339(late).c_str());
  const auto read = parse_rfc3339("9999-12-31T23:00:00Z");
  ASSERT_OK(read);
  TEST_ASSERT_TRUE(*read > sys_days(year(2262) / 4 / 1));
  TEST_ASSERT_TRUE(parse_rfc3339("0001-01-01T00:00:00Z").value() < sys_days(year(1678) / 1 / 1));
}

TEST("A text that is not a moment is refused") {
  for (const char* text : {"", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z",
                           "2026-01-01T00:60:00Z", "2026-01-01 00:00:00Z", "2026-01-01T00:00:00+01:00",
                           "2026-01-01T00:00:00Zx", "-026-01-01T00:00:00Z"}) {
    TEST_ASSERT_FALSE_MESSAGE(parse_rfc3339(text).ok(), text);
  }
}
