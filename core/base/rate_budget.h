#pragma once

#include <chrono>

namespace aflguard {

/// How many of something may go per second: a bucket that fills steadily and holds one second's worth.
class RateBudget final {
 public:
  using Time = std::chrono::steady_clock::time_point;
  explicit RateBudget(double per_second) : per_second_(per_second), tokens_(per_second) {}
  /// Takes one, if there is one.
  [[nodiscard]] bool take(Time now);

 private:
  double per_second_;
  double tokens_;
  Time last_{};
};

}  // namespace aflguard
