#include "core/base/rate_budget.h"

#include <algorithm>

namespace aflguard {

bool RateBudget::take(Time now) {
  const double waited = last_ == Time{} ? 0 : std::chrono::duration<double>(now - last_).count();
  last_ = now;
  // A slow budget still lets one through now and then.
  tokens_ = std::min(std::max(1.0, per_second_), tokens_ + waited * per_second_);
  if (per_second_ <= 0 || tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

}  // namespace aflguard
