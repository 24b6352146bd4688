#include "core/base/rfc3339.h"
#include "core/telemetry/wall_time.h"
#include "tests/support/test.h"

using namespace aflguard;

TEST("Milliseconds since 1970 and back") {
  TEST_ASSERT_EQUAL_STRING("2026-01-31T12:00:00Z", to_rfc3339(from_milliseconds(1'769'860'800'999)).c_str());
  TEST_ASSERT_EQUAL_INT64(1'769'860'800'999, to_milliseconds(from_milliseconds(1'769'860'800'999)));
  TEST_ASSERT_EQUAL_INT64(-1, to_milliseconds(from_milliseconds(-1)));
}

TEST("What the system clock cannot count to becomes its last or its first moment") {
  TEST_ASSERT_TRUE(from_milliseconds(253'402'300'799'999) == from_milliseconds(INT64_MAX));
  TEST_ASSERT_TRUE(to_rfc3339(from_milliseconds(INT64_MAX)).starts_with("2262-"));
  TEST_ASSERT_TRUE(from_milliseconds(INT64_MIN) < from_milliseconds(0));
}
