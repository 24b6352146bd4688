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

/// A board's clock: time goes on as it should, and the date is whatever somebody has set.
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

}  // namespace aflguard::testing
