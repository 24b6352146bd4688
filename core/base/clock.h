#pragma once

#include <chrono>

namespace aflguard {

/// Time as a constructor parameter, so that tests and simulations own it.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual std::chrono::system_clock::time_point wall() const = 0;
  [[nodiscard]] virtual std::chrono::steady_clock::time_point steady() const = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] std::chrono::system_clock::time_point wall() const override {
    return std::chrono::system_clock::now();
  }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const override {
    return std::chrono::steady_clock::now();
  }
};

}  // namespace aflguard
