#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "tests/support/test.h"

namespace aflguard::testing {

/// Longer than anything takes; a test that waits this long has failed.
inline constexpr std::chrono::seconds kLongest{90};

/// Looks again and again until `condition` holds; fails the test with `what` when that takes too long.
template <typename Condition>
void wait_until(const std::string& what, const Condition& condition,
                std::chrono::milliseconds longest = kLongest) {
  const auto deadline = std::chrono::steady_clock::now() + longest;
  while (!condition()) {
    TEST_ASSERT_TRUE_MESSAGE(std::chrono::steady_clock::now() < deadline, what.c_str());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace aflguard::testing
