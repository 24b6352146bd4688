#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/rate_budget.h"

namespace aflguard::gateway {

/// Which refusals are answered: of one device one in a while, and of all a bounded number per second. A
/// device costs 16 bytes, and there is a fixed number of places: one that is needed again is taken from
/// another device, which may then be answered a little sooner. One thread.
class AnswerBudget final {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Limits {
    std::chrono::milliseconds between{1000};  ///< at least, from one answer to a device to the next
    double per_second = 5000;
    std::size_t places = 65'536;
  };

  explicit AnswerBudget(const Limits& limits) : limits_(limits), all_(limits.per_second) {}

  [[nodiscard]] bool take(std::string_view device, Time now);
  /// Refusals that were not answered.
  [[nodiscard]] std::uint64_t unanswered() const { return unanswered_; }

 private:
  struct Answered {
    std::uint64_t device = 0;
    Time when{};
  };

  Limits limits_;
  RateBudget all_;
  std::vector<Answered> answered_;  ///< made with the first one
  std::uint64_t unanswered_ = 0;
};

}  // namespace aflguard::gateway
