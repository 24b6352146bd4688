#include <set>

#include "core/transport/backoff.h"
#include "tests/support/test.h"

using namespace aflguard;
using std::chrono::milliseconds;

TEST("Waits grow to the longest and stay in the upper half of their limit") {
  Backoff backoff(milliseconds(100), milliseconds(1500), 1);
  for (const int limit : {100, 200, 400, 800, 1500, 1500, 1500}) {
    const auto wait = backoff.next().count();
    TEST_ASSERT_TRUE(wait >= limit / 2 && wait <= limit);
  }
  backoff.reset();
  TEST_ASSERT_TRUE(backoff.next() <= milliseconds(100));
}

TEST("Boards with different seeds do not wait equally long") {
  std::set<long> waits;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    waits.insert(Backoff(milliseconds(10'000), milliseconds(60'000), seed).next().count());
  }
  TEST_ASSERT_TRUE(waits.size() > 45);
}
