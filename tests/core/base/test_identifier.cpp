#include "core/base/identifier.h"
#include "tests/support/test.h"

using namespace aflguard;

TEST("Letters, digits, dots, lines and dashes make a name, with a letter or digit in front") {
  for (const std::string_view name : {"a", "7", "board-17", "Orchard_2.north"})
    TEST_ASSERT_TRUE(is_identifier(name));
  for (const std::string_view name : {"", "-a", ".a", "_a", "a/b", "a+b", "#", "a b", "gr\xc3\xbc"}) {
    TEST_ASSERT_FALSE(is_identifier(name));
  }
}

TEST("A name has 64 characters at most") {
  TEST_ASSERT_TRUE(is_identifier(std::string(64, 'x')));
  TEST_ASSERT_FALSE(is_identifier(std::string(65, 'x')));
}

TEST("The message shows a hostile name without its control characters, and not all of a long one") {
  const std::string message =
      testing::message_of(check_identifier("device", "a\x1b[2J\n" + std::string(5000, 'x')));
  ASSERT_CONTAINS(message, "device 'a?[2J?xxx");
  TEST_ASSERT_TRUE(message.size() < 250);
}
