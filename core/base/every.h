#pragma once

#include <chrono>

namespace aflguard {

/// Says when something that repeats is due again. The first time it is due at once.
class Every final {
 public:
  using Time = std::chrono::steady_clock::time_point;
  explicit Every(std::chrono::steady_clock::duration interval) : interval_(interval) {}

  /// From the next time on.
  void set_interval(std::chrono::steady_clock::duration interval) { interval_ = interval; }

  /// True at most once in an interval.
  [[nodiscard]] bool due(Time now) {
    if (now < next_) return false;
    next_ = now + interval_;
    return true;
  }

 private:
  std::chrono::steady_clock::duration interval_;
  Time next_{};
};

}  // namespace aflguard
