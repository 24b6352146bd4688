#include "core/transport/backoff.h"

#include <algorithm>

#include "core/base/check.h"

namespace aflguard {

Backoff::Backoff(Duration shortest, Duration longest, std::uint64_t seed)
    : shortest_(shortest), longest_(longest), limit_(shortest), random_(seed) {
  check(shortest > Duration::zero() && shortest <= longest, "backoff limits are in order");
}

Backoff::Duration Backoff::next() {
  const auto milliseconds = static_cast<double>(limit_.count());
  limit_ = limit_ > longest_ / 2 ? longest_ : limit_ * 2;
  return std::max(Duration(1),
                  Duration(static_cast<Duration::rep>(random_.uniform(0.5, 1.0) * milliseconds)));
}

}  // namespace aflguard
