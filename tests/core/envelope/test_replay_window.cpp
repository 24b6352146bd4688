#include <limits>
#include <set>

#include "core/base/random.h"
#include "core/envelope/replay_window.h"
#include "tests/support/test.h"

using namespace aflguard;
using Standing = ReplayWindow::Standing;

TEST("A number is new once and judged from then on") {
  ReplayWindow window;
  TEST_ASSERT_TRUE(window.standing(1) == Standing::kNew);
  window.record(1);
  TEST_ASSERT_TRUE(window.standing(1) == Standing::kJudged);
  TEST_ASSERT_TRUE(window.standing(2) == Standing::kNew);
}

TEST("The window holds 64 numbers: the oldest in it is known, one older is not") {
  ReplayWindow window;
  window.record(100);
  TEST_ASSERT_TRUE(window.standing(37) == Standing::kNew);
  TEST_ASSERT_TRUE(window.standing(36) == Standing::kTooOld);
  window.record(37);
  TEST_ASSERT_TRUE(window.standing(37) == Standing::kJudged);
  window.record(101);
  TEST_ASSERT_TRUE(window.standing(37) == Standing::kTooOld);
  TEST_ASSERT_TRUE(window.standing(100) == Standing::kJudged);
}

TEST("Zero is never new, and the highest number there is can be judged") {
  ReplayWindow window;
  TEST_ASSERT_TRUE(window.standing(0) == Standing::kTooOld);
  constexpr auto kHighest = std::numeric_limits<std::uint64_t>::max();
  window.record(5);
  window.record(kHighest);
  TEST_ASSERT_TRUE(window.standing(kHighest) == Standing::kJudged);
  TEST_ASSERT_TRUE(window.standing(kHighest - 1) == Standing::kNew);
  TEST_ASSERT_TRUE(window.standing(5) == Standing::kTooOld);
}

TEST("Whatever the order, no number is ever new twice, also across a restart") {
  Random random(11);
  ReplayWindow window;
  std::set<std::uint64_t> judged;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t sequence = 1 + static_cast<std::uint64_t>(i) / 10 + random.below(100);
    const Standing standing = window.standing(sequence);
    if (judged.contains(sequence)) TEST_ASSERT_FALSE(standing == Standing::kNew);
    if (standing == Standing::kJudged) TEST_ASSERT_TRUE(judged.contains(sequence));
    if (standing == Standing::kNew) {
      window.record(sequence);
      judged.insert(sequence);
    }
    window = ReplayWindow(window.highest(), window.judged_bits());
  }
  TEST_ASSERT_TRUE(judged.size() > 1000);
}
