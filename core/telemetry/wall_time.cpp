#include "core/telemetry/wall_time.h"

#include <algorithm>

namespace aflguard {

using std::chrono::milliseconds;
using SystemMilliseconds = std::chrono::sys_time<milliseconds>;

std::int64_t to_milliseconds(WallTime time) {
  return std::chrono::floor<milliseconds>(time).time_since_epoch().count();
}

WallTime from_milliseconds(std::int64_t count) {
  constexpr SystemMilliseconds kFirst = std::chrono::ceil<milliseconds>(WallTime::min());
  constexpr SystemMilliseconds kLast = std::chrono::floor<milliseconds>(WallTime::max());
  return std::clamp(SystemMilliseconds(milliseconds(count)), kFirst, kLast);
}

}  // namespace aflguard
