#include "core/verdict/verdict.h"
#include "tests/support/test.h"

using namespace aflguard;

TEST("A verdict in one line: the reason, and what was measured where anything was") {
  Verdict verdict{.accepted = false, .reason = Reason::kTooOld};
  TEST_ASSERT_EQUAL_STRING("too-old", describe(verdict).c_str());
  verdict.reason = Reason::kTooFar;
  verdict.distance = 8.1;
  verdict.bound = 5.4;
  TEST_ASSERT_EQUAL_STRING("too-far: 8.1, bound 5.4", describe(verdict).c_str());
}

TEST("An accepted update that was changed says by how much and how") {
  Verdict verdict{.accepted = true, .reason = Reason::kAccepted, .distance = 1, .bound = 2};
  TEST_ASSERT_EQUAL_STRING("accepted", describe(verdict).c_str());
  verdict.altered = 0.31;
  verdict.alterations = kResidualShortened | kDirectionBent | kDirectionBent << 3;
  TEST_ASSERT_EQUAL_STRING("accepted, changed by 31 %: residual shortened, 2 directions bent",
                           describe(verdict).c_str());
}
