#pragma once

#include <chrono>
#include <cstdint>

#include "core/base/random.h"

namespace aflguard {

/// How long to wait before the next attempt: the limit doubles from `shortest` to `longest`, and each wait is
/// drawn from the upper half below it, so that a thousand boards do not come back in the same second.
class Backoff final {
 public:
  using Duration = std::chrono::milliseconds;
  /// 0 < shortest <= longest.
  Backoff(Duration shortest, Duration longest, std::uint64_t seed);

  [[nodiscard]] Duration next();
  /// After a success: the next wait is short again.
  void reset() { limit_ = shortest_; }

 private:
  Duration shortest_;
  Duration longest_;
  Duration limit_;
  Random random_;
};

}  // namespace aflguard
