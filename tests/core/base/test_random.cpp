#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/base/random.h"
#include "tests/support/test.h"

using namespace aflguard;

TEST("The same seed gives the same numbers on every machine") {
  Random random(7);
  Random again(7);
  for (int i = 0; i < 100; ++i) TEST_ASSERT_TRUE(random.next() == again.next());
}

TEST("Streams of one seed differ") {
  Random first(7, 1);
  Random second(7, 2);
  TEST_ASSERT_TRUE(first.next() != second.next());
}

TEST("below stays under its bound and reaches every value") {
  Random random(1);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const auto n = random.below(7);
    TEST_ASSERT_TRUE(n < 7);
    seen.insert(n);
  }
  TEST_ASSERT_EQUAL_size_t(7, seen.size());
}

TEST("Normal numbers have mean zero and variance one") {
  Random random(3);
  double sum = 0;
  double squares = 0;
  constexpr int kCount = 200'000;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
  }
  TEST_ASSERT_DOUBLE_WITHIN(0.01, 0, sum / kCount);
  TEST_ASSERT_DOUBLE_WITHIN(0.02, 1, squares / kCount);
}

TEST("Sampling without replacement draws different indices, and all of them when asked for all") {
  Random random(5);
  auto drawn = random.sample_without_replacement(50, 50);
  std::sort(drawn.begin(), drawn.end());
  for (std::size_t i = 0; i < 50; ++i) TEST_ASSERT_EQUAL_size_t(i, drawn[i]);
  const auto few = random.sample_without_replacement(1'000'000'000, 20);
  TEST_ASSERT_EQUAL_size_t(20, std::set<std::size_t>(few.begin(), few.end()).size());
}
