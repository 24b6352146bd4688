#include "fleet/monitor/frame.h"
#include "fleet/monitor/sparkline.h"
#include "fleet/view/time_series.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::view;
using namespace std::chrono_literals;

namespace {

std::string drawn(const std::vector<std::optional<double>>& values, bool from_zero, Glyphs glyphs) {
  std::string text;
  for (const char32_t glyph : sparkline(values, from_zero, glyphs)) text += to_utf8(glyph);
  return text;
}

}  // namespace

TEST("A sparkline goes from the smallest value to the largest, with blanks where nothing is known") {
  TEST_ASSERT_EQUAL_STRING("\u2581\u2585 \u2588",
                           drawn({1.0, 2.0, {}, 3.0}, false, Glyphs::kUnicode).c_str());
  TEST_ASSERT_EQUAL_STRING("_+ @", drawn({1.0, 2.0, {}, 3.0}, false, Glyphs::kAscii).c_str());
  TEST_ASSERT_EQUAL_STRING("-* @", drawn({1.0, 2.0, {}, 3.0}, true, Glyphs::kAscii).c_str());
}

TEST("Equal values are drawn in the middle, and what is not a number is a blank") {
  TEST_ASSERT_EQUAL_STRING("++ ", drawn({5.0, 5.0, 0.0 / 0.0}, false, Glyphs::kAscii).c_str());
  TEST_ASSERT_EQUAL_STRING("", drawn({}, false, Glyphs::kAscii).c_str());
}

TEST("With fixed ends, what lies outside is drawn at the edge") {
  const std::vector<std::optional<double>> values = {-1.0, 0.0, 1.0, 2.0, 99.0};
  std::string text;
  for (const char32_t glyph : sparkline(values, 0, 2, Glyphs::kAscii)) text += to_utf8(glyph);
  TEST_ASSERT_EQUAL_STRING("__+@@", text.c_str());
}

TEST("A series keeps its newest values and averages them over time") {
  TimeSeries series(4);
  const TimeSeries::Time start{};
  for (int i = 0; i < 6; ++i) series.add(start + i * 1s, i);
  TEST_ASSERT_EQUAL_size_t(4, series.size());
  const auto means = series.means(start + 2s, start + 6s, 2);
  TEST_ASSERT_EQUAL_DOUBLE(2.5, *means[0]);
  TEST_ASSERT_EQUAL_DOUBLE(4.5, *means[1]);
  series.prepend({{start + 1s, 1.0}});  // there is no room
  TEST_ASSERT_EQUAL_size_t(4, series.size());
  series.add(start + 3s, 30);  // a clock that was set back
  TEST_ASSERT_EQUAL_DOUBLE(30, *series.latest());
  TEST_ASSERT_EQUAL_size_t(2, series.size());
  series.prepend({{start + 9s, 9.0}, {start + 1s, 1.0}, {start, 0.0}});
  TEST_ASSERT_EQUAL_size_t(4, series.size());
  TEST_ASSERT_EQUAL_DOUBLE(0, *series.means(start, start + 1s, 1)[0]);
  TEST_ASSERT_TRUE(series.means(start, start, 3)[0] == std::nullopt);
}
