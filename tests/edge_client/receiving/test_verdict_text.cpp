#include "core/verdict/reason.h"
#include "edge_client/receiving/verdict_text.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;

TEST("A verdict is one line of the log") {
  VerdictMessage verdict;
  verdict.sequence = 17;
  verdict.accepted = true;
  verdict.version = 204;
  verdict.delay = 3;
  TEST_ASSERT_EQUAL_STRING("verdict 17: accepted, version 204, delay 3", verdict_line(verdict).c_str());
  verdict.accepted = false;
  verdict.reason = static_cast<std::uint8_t>(Reason::kTooFar);
  verdict.distance = 12.5;
  verdict.bound = 3;
  TEST_ASSERT_EQUAL_STRING("verdict 17: rejected (too-far: 12.5 over 3), version 204, delay 3",
                           verdict_line(verdict).c_str());
  verdict.reason = 72;
  verdict.distance = verdict.bound = 0;
  TEST_ASSERT_EQUAL_STRING("verdict 17: rejected (replayed), version 204, delay 3",
                           verdict_line(verdict).c_str());
}
