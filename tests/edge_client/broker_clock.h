#pragma once

#include <chrono>

#include "core/base/clock.h"
#include "core/transport/in_process_broker.h"

namespace aflguard::testing {

/// Virtual time: the in-process broker's.
class BrokerClock final : public Clock {
 public:
  explicit BrokerClock(const InProcessBroker& broker) : broker_(broker) {}
  [[nodiscard]] std::chrono::system_clock::time_point wall() const override {
    return std::chrono::system_clock::from_time_t(1'800'000'000) + broker_.now() + jump;
  }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const override {
    return std::chrono::steady_clock::time_point(std::chrono::seconds(1000) + broker_.now());
  }
  std::chrono::seconds jump{0};

 private:
  const InProcessBroker& broker_;
};

}  // namespace aflguard::testing
