#pragma once

#include <chrono>
#include <thread>

#include "core/base/random.h"

namespace aflguard::testing {

/// Lets a random time pass, for tests that break things at any moment. To wait for something: wait_until.h.
inline void let_random_time_pass(Random& random, std::chrono::microseconds less_than) {
  const auto bound = static_cast<std::uint64_t>(less_than.count());
  std::this_thread::sleep_for(std::chrono::microseconds(random.below(bound)));
}

}  // namespace aflguard::testing
