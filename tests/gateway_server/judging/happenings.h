#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "tests/support/test.h"

namespace aflguard::testing {

inline constexpr std::chrono::seconds kLongWait(60);

/// What happened on one thread, for a test on another that waits for it.
template <typename T>
class Happenings final {
 public:
  void add(T value) {
    {
      const std::lock_guard lock(mutex_);
      values_.push_back(std::move(value));
    }
    changed_.notify_all();
  }
  /// All of them, as soon as there are `count`.
  [[nodiscard]] std::vector<T> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    const bool there = changed_.wait_for(lock, kLongWait, [&] { return values_.size() >= count; });
    TEST_ASSERT_TRUE_MESSAGE(there, "it did not happen");
    return values_;
  }
  [[nodiscard]] std::size_t count() {
    const std::lock_guard lock(mutex_);
    return values_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<T> values_;
};

}  // namespace aflguard::testing
