#include "bench/offline/day_plan.h"

#include <cmath>
#include <numbers>

namespace aflguard::bench {

double DayPlan::per_hour(double hour) const {
  const double height = (1 + std::cos(2 * std::numbers::pi * (hour - busiest_hour) / 24)) / 2;
  return least_per_hour + (most_per_hour - least_per_hour) * height;
}

std::size_t draw_link(Random& random) {
  double drawn = random.uniform();
  std::size_t link = 0;
  while (link + 1 < kDayLinkCount && drawn >= kDayLinks[link].share) drawn -= kDayLinks[link++].share;
  return link;
}

double draw_wait(Random& random, double mean) {
  return -mean * std::log1p(-random.uniform());
}

}  // namespace aflguard::bench
