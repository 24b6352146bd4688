#pragma once

#include <atomic>

#include "core/base/clock.h"

namespace aflguard::bench {

/// Time that a benchmark moves. Its steady part lies far ahead of the machine's: a thread that waits until a
/// moment of this clock waits for its work instead. Read from any thread.
class VirtualClock final : public Clock {
 public:
  using Span = std::chrono::nanoseconds;

  /// Begins at that moment.
  explicit VirtualClock(std::chrono::system_clock::time_point wall)
      : wall_(wall), steady_(std::chrono::steady_clock::now() + std::chrono::hours(24 * 365)) {}

  [[nodiscard]] std::chrono::system_clock::time_point wall() const override { return wall_ + since_begin(); }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const override {
    return steady_ + since_begin();
  }
  [[nodiscard]] Span since_begin() const { return Span(passed_.load()); }
  /// Never back.
  void move_to(Span since_begin) {
    if (since_begin > this->since_begin()) passed_ = since_begin.count();
  }

 private:
  const std::chrono::system_clock::time_point wall_;
  const std::chrono::steady_clock::time_point steady_;
  std::atomic<std::int64_t> passed_{0};
};

}  // namespace aflguard::bench
