#pragma once

#include "fleet/doctor/doctor.h"
#include "tests/support/test.h"

namespace aflguard::testing {

/// The one finding of that check; fails the test when there is none.
inline fleet::Finding finding_of(const fleet::Findings& findings, const std::string& check) {
  for (const fleet::Finding& finding : findings.list()) {
    if (finding.check == check) return finding;
  }
  TEST_FAIL_MESSAGE((check + " was not looked at").c_str());
  return {};
}

inline void assert_finding(const fleet::Findings& findings, const std::string& check,
                           fleet::FindingLevel level, const std::string& part, int line) {
  const fleet::Finding finding = finding_of(findings, check);
  assert_contains(finding.found, part, line);
  if (finding.level != level) UNITY_TEST_FAIL(line, (check + ": " + finding.found).c_str());
  if (finding.advice.empty() != (level == fleet::FindingLevel::kOk))
    UNITY_TEST_FAIL(line, (check + " advises: " + finding.advice).c_str());
}

/// A clock that says what a test wants.
struct FixedClock final : Clock {
  std::chrono::system_clock::time_point now = std::chrono::system_clock::now();
  [[nodiscard]] std::chrono::system_clock::time_point wall() const override { return now; }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const override {
    return std::chrono::steady_clock::now();
  }
};

}  // namespace aflguard::testing

#define ASSERT_FINDING(findings, check, level, part) \
  ::aflguard::testing::assert_finding(findings, check, level, part, __LINE__)
