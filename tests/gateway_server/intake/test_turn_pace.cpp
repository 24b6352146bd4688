#include <algorithm>
#include <string>
#include <vector>

#include "core/envelope/messages.h"
#include "gateway_server/intake/turn_pace.h"
#include "tests/support/test.h"

using namespace aflguard::gateway;
using namespace std::chrono_literals;

namespace {

constexpr TurnPace::Time kPaceBegins{1000s};

std::string paced_device(int number) {
  return "pi-" + std::to_string(number);
}

double in_seconds(TurnPace::Pause pause) {
  return std::chrono::duration<double>(pause).count();
}

}  // namespace

TEST("Without limits no device is told anything, and none is early") {
  TurnPace pace({});
  pace.count("pi-1", 1'000'000'000, 1, kPaceBegins);
  TEST_ASSERT_EQUAL_INT64(0, pace.next_turn("pi-1", kPaceBegins).count());
  TEST_ASSERT_FALSE(pace.early("pi-1", kPaceBegins).has_value());
}

TEST("A fleet larger than it needs to be takes turns: whatever its size, so many updates come in a second") {
  TurnPace pace({.updates_per_second = 50});
  auto now = kPaceBegins;
  std::vector<std::pair<TurnPace::Time, int>> due;
  for (int i = 0; i < 1000; ++i) due.emplace_back(now, i);
  std::vector<int> turns(1000);
  int judged = 0;
  // Every device sends exactly when it was told to.
  while (now < kPaceBegins + 100s) {
    const auto next = std::min_element(due.begin(), due.end());
    now = next->first;
    TEST_ASSERT_FALSE(pace.early(paced_device(next->second), now).has_value());
    ++turns[static_cast<std::size_t>(next->second)];
    ++judged;
    next->first = now + std::max(pace.next_turn(paced_device(next->second), now), TurnPace::Pause(1));
  }
  TEST_ASSERT_INT_WITHIN(100, 1000 + 50 * 100, judged);  // the first ones came all at once
  for (const int count : turns) TEST_ASSERT_INT_WITHIN(1, 6, count);
}

TEST("A fleet that is smaller is told nothing") {
  TurnPace pace({.updates_per_second = 50});
  for (int i = 0; i < 100; ++i) {
    TEST_ASSERT_EQUAL_INT64(0, pace.next_turn(paced_device(i % 3), kPaceBegins + i * 100ms).count());
  }
}

TEST("One that comes much earlier than it was told is early; a verdict that goes again takes no other turn") {
  TurnPace pace({.updates_per_second = 0.1});
  (void)pace.next_turn("pi-1", kPaceBegins);
  const auto told = pace.next_turn("pi-2", kPaceBegins);
  TEST_ASSERT_DOUBLE_WITHIN(0.01, 10, in_seconds(told));
  TEST_ASSERT_DOUBLE_WITHIN(0.01, 8, in_seconds(pace.next_turn("pi-2", kPaceBegins + 2s)));
  const auto early = pace.early("pi-2", kPaceBegins + 4s);
  TEST_ASSERT_TRUE(early.has_value());
  TEST_ASSERT_DOUBLE_WITHIN(0.01, 6, in_seconds(early->left));
  TEST_ASSERT_EQUAL_STRING("it was told to come later", early->why.c_str());
  TEST_ASSERT_FALSE(pace.early("pi-2", kPaceBegins + 9s).has_value());
  TEST_ASSERT_FALSE(pace.early("pi-3", kPaceBegins).has_value());
}

TEST("Turns beyond an hour are spread over its later half, and do not run away") {
  TurnPace pace({.updates_per_second = 1});
  for (int i = 0; i < 20'000; ++i) {
    const double wait = in_seconds(pace.next_turn(paced_device(i), kPaceBegins));
    TEST_ASSERT_TRUE(wait <= 3600);
    if (i > 3601) TEST_ASSERT_TRUE(wait >= 1799);
  }
}

TEST("A device spreads its bytes over its day, and is stopped when they are used up") {
  constexpr std::uint64_t kBudget = 10'000'000;
  TurnPace pace({.device_bytes_per_day = kBudget});
  auto now = kPaceBegins;
  std::uint64_t used = 0;
  int turns = 0;
  while (now < kPaceBegins + 24h) {
    TEST_ASSERT_FALSE(pace.early("pi-1", now).has_value());
    pace.count("pi-1", 100'000, 1, now);  // the update
    const auto pause = pace.next_turn("pi-1", now);
    pace.count("pi-1", 50'000, 0, now);  // its answer
    used += 150'000;
    ++turns;
    TEST_ASSERT_TRUE(pause > 0s && pause <= aflguard::kLongestPause);
    now += pause;
  }
  TEST_ASSERT_TRUE(used <= kBudget);
  TEST_ASSERT_INT_WITHIN(4, 64, turns);
  TEST_ASSERT_FALSE(pace.early("pi-1", now + 1s).has_value());  // another day
}

TEST("A device that cannot be told is refused once its bytes of the day are used up, and no other") {
  TurnPace pace({.device_bytes_per_day = 1'000'000});
  for (int i = 0; i < 10; ++i) {
    TEST_ASSERT_FALSE(pace.early("old", kPaceBegins + i * 1s).has_value());
    pace.count("old", 100'000, 1, kPaceBegins + i * 1s);
  }
  const auto early = pace.early("old", kPaceBegins + 1h);
  TEST_ASSERT_TRUE(early.has_value());
  TEST_ASSERT_EQUAL_INT(23, std::chrono::duration_cast<std::chrono::hours>(early->left).count());
  TEST_ASSERT_EQUAL_STRING("its bytes of this day are used up", early->why.c_str());
  TEST_ASSERT_FALSE(pace.early("pi-1", kPaceBegins + 1h).has_value());
  TEST_ASSERT_FALSE(pace.early("old", kPaceBegins + 24h).has_value());
}
