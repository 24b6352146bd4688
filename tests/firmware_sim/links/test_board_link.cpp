#include "firmware_sim/links/board_link.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::sim;

TEST("Every state of a link is read back as it was written") {
  for (const LinkState state : {LinkState{}, LinkState{.cut = true}, LinkState{.bytes_per_second = 4000}}) {
    const auto read = parse_link_state(to_text(state) + "\n");
    ASSERT_OK(read);
    TEST_ASSERT_TRUE(*read == state);
  }
  for (const char* wrong : {"", "slow", "slow 0", "slow 12x", "opened", "slow -1"}) {
    TEST_ASSERT_FALSE_MESSAGE(parse_link_state(wrong).ok(), wrong);
  }
}

TEST("An allowance gives the rate on average, and never more than a short portion at once") {
  ByteAllowance allowance;
  constexpr std::uint64_t kRate = 1000;
  TEST_ASSERT_EQUAL_UINT64(0, allowance.available(kRate, 10.0));
  std::uint64_t passed = 0;
  for (int tick = 1; tick <= 100; ++tick) {
    const std::uint64_t now = allowance.available(kRate, 10.0 + tick * 0.1);
    passed += now;
    allowance.spend(now);
  }
  TEST_ASSERT_TRUE(passed >= 9980 && passed <= 10'000);
  TEST_ASSERT_EQUAL_UINT64(250, allowance.available(kRate, 1000.0));  // a long rest is not saved up
}

TEST("Even the slowest rate passes a byte now and then") {
  ByteAllowance allowance;
  (void)allowance.available(1, 0.0);
  TEST_ASSERT_EQUAL_UINT64(0, allowance.available(1, 0.5));
  TEST_ASSERT_EQUAL_UINT64(1, allowance.available(1, 1.1));
}
