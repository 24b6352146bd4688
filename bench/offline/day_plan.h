#pragma once

#include <chrono>
#include <cstdint>

#include "core/base/random.h"

namespace aflguard::bench {

/// How a large fleet behaves: the assumptions of `bench day`, in one place. docs/scale.md shows them.
struct DayPlan {
  double least_per_hour = 1;     ///< updates of one device, at the quietest hour
  double most_per_hour = 2;      ///< ... and twelve hours later
  double busiest_hour = 20;      ///< of the day
  double malicious_share = 0.2;  ///< send the opposite of what an honest device sends, ten times as long
  double interrupted = 0.03;     ///< updates whose device vanishes in the middle, and comes back
  double abandoned = 0.01;       ///< ... and does not

  /// Updates per hour of one device at that hour, 0 to 24.
  [[nodiscard]] double per_hour(double hour) const;
};

/// A device's way to the broker, bits per second.
struct DayLink {
  const char* name;
  double share;
  double up;
  double down;
};
inline constexpr DayLink kDayLinks[] = {
    {"64 kbit/s", 0.3, 64e3, 256e3}, {"1 Mbit/s", 0.5, 1e6, 4e6}, {"20 Mbit/s", 0.2, 20e6, 50e6}};
inline constexpr std::size_t kDayLinkCount = sizeof kDayLinks / sizeof kDayLinks[0];

/// Which of kDayLinks a device has.
[[nodiscard]] std::size_t draw_link(Random& random);

/// An exponential wait with that mean.
[[nodiscard]] double draw_wait(Random& random, double mean);

}  // namespace aflguard::bench
