#include "fleet/monitor/frame_diff.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::view;

TEST("The first frame clears the screen; the same frame again writes nothing") {
  Frame frame({10, 2});
  frame.put(1, 2, "hi");
  TEST_ASSERT_EQUAL_STRING("\x1b[0m\x1b[2J\x1b[2;3H\x1b[0mhi", frame_diff(std::nullopt, frame, true).c_str());
  TEST_ASSERT_EQUAL_STRING("", frame_diff(frame, frame, true).c_str());
}

TEST("Only what differs is written, and another size writes everything") {
  Frame before({10, 2});
  before.put(0, 0, "abcdef");
  Frame after = before;
  after.put(0, 2, "X", Style::kAlarm);
  TEST_ASSERT_EQUAL_STRING("\x1b[1;3H\x1b[0;1;31mX\x1b[0m", frame_diff(before, after, true).c_str());
  ASSERT_CONTAINS(frame_diff(before, Frame({11, 2}), true), "\x1b[2J");
  Frame shorter({10, 2});
  TEST_ASSERT_EQUAL_STRING("\x1b[1;1H\x1b[0m      ", frame_diff(before, shorter, true).c_str());
}

TEST("Without colour there is bold and inverse, and no colour") {
  Frame frame({20, 1});
  std::size_t column = 0;
  for (const Style style : {Style::kDim, Style::kGood, Style::kNotice, Style::kWarning, Style::kAlarm,
                            Style::kAccent, Style::kBold, Style::kInverse}) {
    column = frame.put(0, column, "x", style);
  }
  const std::string bytes = frame_diff(std::nullopt, frame, false);
  for (const char* colour : {";3", "[3", ";9", "[9"}) {
    TEST_ASSERT_TRUE_MESSAGE(bytes.find(colour) == std::string::npos, colour);
  }
  ASSERT_CONTAINS(bytes, "\x1b[0;7m");
}

TEST("Text that does not fit is cut, and what is not ASCII becomes a question mark") {
  Frame frame({4, 1});
  TEST_ASSERT_EQUAL_size_t(4, frame.put(0, 0, "abcdef"));
  frame.put(7, 0, "nowhere");
  frame.put(0, 9, "nowhere");
  TEST_ASSERT_EQUAL_STRING("abcd", frame.text()[0].c_str());
  frame.put(0, 0, "\x1b\xc3\xa9");
  TEST_ASSERT_EQUAL_STRING("???d", frame.text()[0].c_str());
}
