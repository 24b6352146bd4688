#include "fleet/monitor/frame_diff.h"
#include "fleet/monitor/screen_reader.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::view;

namespace {

Frame with(std::string_view first, std::u32string_view second) {
  Frame frame({20, 3});
  frame.put(0, 2, first, Style::kAlarm);
  frame.put(2, 0, second, Style::kAccent);
  return frame;
}

}  // namespace

TEST("What frames write is read back, whole or cut anywhere") {
  const Frame before = with("probe 17", U"▁▂█");
  const Frame after = with("probe 18", U"▁█");
  const std::string bytes = frame_diff({}, before, true) + frame_diff(before, after, true);
  ScreenReader whole({20, 3});
  whole.feed(bytes);
  TEST_ASSERT_TRUE(whole.frame().text() == after.text());
  ScreenReader cut({20, 3});
  for (const char byte : bytes) cut.feed({&byte, 1});
  TEST_ASSERT_TRUE(cut.frame().text() == after.text());
  TEST_ASSERT_TRUE(cut.shows("probe 18"));
  TEST_ASSERT_FALSE(cut.shows("probe 17"));
}

TEST("What does not fit the screen changes nothing") {
  ScreenReader reader({10, 2});
  reader.feed("\x1b[1;1Hhere\x1b[9;3Hfar\x1b[2;9Hlong tail\x1b[?25l");
  TEST_ASSERT_EQUAL_STRING("here", reader.frame().text().at(0).c_str());
  TEST_ASSERT_EQUAL_STRING("        lo", reader.frame().text().at(1).c_str());
}
