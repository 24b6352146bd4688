#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/log.h"

namespace aflguard::testing {

/// Keeps every line, for tests that ask what was said. Safe from several threads.
class KeptLog final : public LogSink {
 public:
  void write(LogLevel, std::string_view line) override {
    const std::lock_guard lock(mutex_);
    lines_.emplace_back(line);
  }
  [[nodiscard]] std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const std::string& line : lines()) all += line + "\n";
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

/// A board's clock: time goes on as it should, and the date is whatever someone has set.
class SetClock final : public Clock {
 public:
  using Wall = std::chrono::system_clock::time_point;
  [[nodiscard]] Wall wall() const override {
    const std::lock_guard lock(mutex_);
    return wall_;
  }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const override {
    return std::chrono::steady_clock::now();
  }
  void set(Wall wall) {
    const std::lock_guard lock(mutex_);
    wall_ = wall;
  }

 private:
  mutable std::mutex mutex_;
  Wall wall_ = std::chrono::system_clock::now();
};

/// Time that goes on only when a test says so. For one thread.
class SteppedClock final : public Clock {
 public:
  [[nodiscard]] std::chrono::system_clock::time_point wall() const override {
    return std::chrono::system_clock::time_point(std::chrono::hours(24 * 365 * 56)) +
           std::chrono::duration_cast<std::chrono::system_clock::duration>(now_.time_since_epoch());
  }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const override { return now_; }
  void advance(std::chrono::steady_clock::duration span) { now_ += span; }

 private:
  std::chrono::steady_clock::time_point now_{std::chrono::hours(1)};
};

}  // namespace aflguard::testing
