#include "core/base/short_text.h"
#include "tests/support/test.h"

using namespace aflguard;

TEST("A text that fits stays as it is") {
  TEST_ASSERT_EQUAL_STRING("", shortened("", 3).c_str());
  TEST_ASSERT_EQUAL_STRING("pears", shortened("pears", 5).c_str());
}

TEST("A longer one ends in dots and is no longer than allowed") {
  TEST_ASSERT_EQUAL_STRING("ap...", shortened("apples", 5).c_str());
  TEST_ASSERT_EQUAL_STRING("...", shortened("apples", 3).c_str());
}

TEST("No character is cut in two") {
  const std::string grapes = "a\xc3\xa4\xc3\xb6\xc3\xbcxyz";
  TEST_ASSERT_EQUAL_STRING("a\xc3\xa4...", shortened(grapes, 6).c_str());
  TEST_ASSERT_EQUAL_STRING("a\xc3\xa4...", shortened(grapes, 7).c_str());
  TEST_ASSERT_EQUAL_STRING("a\xc3\xa4\xc3\xb6...", shortened(grapes, 8).c_str());
}

TEST("A hash is shown by its first twelve digits") {
  TEST_ASSERT_EQUAL_STRING("0123456789ab...",
                           short_hash(std::string("0123456789abcdef") + std::string(48, '0')).c_str());
}

TEST("Broken bytes are cut without an end") {
  TEST_ASSERT_EQUAL_STRING("...", shortened(std::string(100, '\x80'), 20).c_str());
}
