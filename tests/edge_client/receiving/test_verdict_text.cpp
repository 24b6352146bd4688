#include "core/verdict/refusal.h"
#include "core/verdict/verdict.h"
#include "edge_client/receiving/verdict_text.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;

TEST("The device's names of reasons are those of the guard and of the refusals") {
  for (std::uint8_t i = 0; i < 64; ++i) {
    const auto name = to_string(static_cast<Reason>(i));
    const std::string expected = name == "unknown" ? "reason-" + std::to_string(i) : std::string(name);
    TEST_ASSERT_EQUAL_STRING(expected.c_str(), reason_name(i).c_str());
  }
  TEST_ASSERT_EQUAL_STRING("malformed", reason_name(64).c_str());
  TEST_ASSERT_EQUAL_STRING("overloaded", reason_name(74).c_str());
  TEST_ASSERT_EQUAL_STRING("foreign-sender", reason_name(75).c_str());
  TEST_ASSERT_EQUAL_STRING("reason-76", reason_name(76).c_str());
}

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
}
