#include "core/base/result.h"
#include "tests/support/test.h"
#include "tests/support/test_aborted.h"

using namespace aflguard;

namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return invalid_input(std::to_string(n) + " is odd");
  return n / 2;
}

Result<int> quarter(int n) {
  TRY(const int once, half(n));
  TRY(const int twice, half(once));
  return twice;
}

}  // namespace

TEST("TRY hands the value on when every step succeeds") {
  TEST_ASSERT_EQUAL_INT(3, *quarter(12));
}

TEST("TRY returns the first error unchanged") {
  const auto result = quarter(6);
  TEST_ASSERT_FALSE(result.ok());
  TEST_ASSERT_TRUE(result.error() == invalid_input("3 is odd"));
}

TEST("An error can be given the place where it happened") {
  TEST_ASSERT_EQUAL_STRING("file.npy: 3 is odd", at("file.npy", half(3).error()).message.c_str());
}

TEST("A failing assertion runs the destructors of the test's objects") {
  static bool destroyed = false;
  struct Guard {
    ~Guard() { destroyed = true; }
  };
  // The failure below is the subject of this test, so Unity's note of it is taken back.
  try {
    const Guard guard;
    TEST_FAIL_MESSAGE("(expected, part of the test)");
  } catch (const testing::TestAborted&) {
    Unity.CurrentTestFailed = 0;
  }
  TEST_ASSERT_TRUE(destroyed);
}
