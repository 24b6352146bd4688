#include <algorithm>
#include <string>
#include <vector>

#include "gateway_server/intake/waiting_line.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace std::chrono_literals;

namespace {

constexpr WaitingLine::Time kLineOpens{1000s};

/// Has measured so many updates per second.
WaitingLine line_with_pace(std::uint64_t per_second) {
  WaitingLine line;
  for (int second = 0; second < 40; ++second) {
    line.measure(per_second / 2 * static_cast<std::uint64_t>(second), kLineOpens - 20s + second * 500ms);
  }
  return line;
}

std::string name(int number) {
  return "pi-" + std::to_string(number);
}

}  // namespace

TEST("A crowd is asked back one after the other, at the pace at which the gateway is served") {
  WaitingLine line = line_with_pace(100);
  TEST_ASSERT_DOUBLE_WITHIN(1, 100, line.pace());
  std::vector<WaitingLine::Duration> waits;
  for (int i = 0; i < 1000; ++i) waits.push_back(line.put(name(i), 100, kLineOpens));
  TEST_ASSERT_TRUE(std::is_sorted(waits.begin(), waits.end()));
  TEST_ASSERT_INT_WITHIN(20, 500, static_cast<int>(waits.front().count()));  // half of what is inside
  // A little faster than it was served: 1,000 devices in 8 seconds.
  TEST_ASSERT_INT_WITHIN(100, 8500, static_cast<int>(waits.back().count()));
  for (std::size_t i = 100; i < waits.size(); ++i) TEST_ASSERT_TRUE(waits[i] - waits[i - 100] > 700ms);
}

TEST("A device keeps its time however often it asks, and nobody else's changes") {
  WaitingLine line = line_with_pace(10);
  const auto first = line.put("pi-1", 100, kLineOpens);
  for (int i = 0; i < 1000; ++i) (void)line.put("flood", 100, kLineOpens);
  TEST_ASSERT_EQUAL_INT64(first.count() - 1000, line.put("pi-1", 100, kLineOpens + 1s).count());
  TEST_ASSERT_EQUAL_INT64(first.count() + 160,
                          line.put("pi-2", 100, kLineOpens).count());  // the third of the line
  TEST_ASSERT_EQUAL_size_t(3, line.size(kLineOpens));
}

TEST("Those whose time has come are known until they are let in, or are far too late") {
  WaitingLine line = line_with_pace(10);
  const auto wait = line.put("pi-1", 100, kLineOpens);
  TEST_ASSERT_FALSE(line.is_due("pi-1", kLineOpens));
  TEST_ASSERT_TRUE(line.is_due("pi-1", kLineOpens + wait));
  TEST_ASSERT_FALSE(line.is_due("pi-2", kLineOpens + wait));
  TEST_ASSERT_EQUAL_size_t(1, line.size(kLineOpens + wait + 29s));
  TEST_ASSERT_EQUAL_size_t(0, line.size(kLineOpens + wait + 31s));
  (void)line.put("pi-3", 100, kLineOpens + 100s);
  line.leave("pi-3");
  TEST_ASSERT_EQUAL_size_t(0, line.size(kLineOpens + 100s));
}

TEST("However long the line, nobody waits for more than five minutes, and its end is spread") {
  WaitingLine line = line_with_pace(2);
  WaitingLine::Duration longest{};
  std::vector<WaitingLine::Duration> late;
  for (int i = 0; i < 5000; ++i) {
    const auto wait = line.put(name(i), 10, kLineOpens);
    longest = std::max(longest, wait);
    if (i > 1000) late.push_back(wait);
  }
  TEST_ASSERT_TRUE(longest <= WaitingLine::kLongest);
  std::sort(late.begin(), late.end());
  TEST_ASSERT_TRUE(late.front() > 149s && late.front() < 152s);
  TEST_ASSERT_TRUE(late[late.size() / 2] > 215s && late[late.size() / 2] < 235s);
}

TEST("A pause does not make the gateway look slow") {
  WaitingLine line = line_with_pace(100);
  line.measure(2000, kLineOpens + 1h);
  line.measure(2000, kLineOpens + 1h + 250ms);
  line.measure(2000, kLineOpens + 1h + 500ms);
  TEST_ASSERT_DOUBLE_WITHIN(1, 100, line.pace());
}
