#include "gateway_server/replies/offer_pace.h"
#include "tests/support/test.h"

using namespace aflguard::gateway;
using namespace std::chrono_literals;

TEST("A device that asks all the time gets an offer once in a while, and takes nobody else's") {
  OfferPace pace(2s);
  const OfferPace::Time start{1h};
  TEST_ASSERT_TRUE(pace.due("flood", start));
  TEST_ASSERT_TRUE(pace.due("pi-1", start));
  int offers = 0;
  for (auto now = start; now < start + 60s; now += 10ms) offers += pace.due("flood", now) ? 1 : 0;
  TEST_ASSERT_TRUE(offers >= 14 && offers <= 29);
  TEST_ASSERT_TRUE(pace.due("pi-1", start + 60s));
  TEST_ASSERT_FALSE(pace.due("pi-1", start + 61s));
  TEST_ASSERT_TRUE(pace.due("flood", start + 70s));
}
