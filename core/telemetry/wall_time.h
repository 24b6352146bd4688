#pragma once

#include <chrono>
#include <cstdint>

namespace aflguard {

using WallTime = std::chrono::system_clock::time_point;

[[nodiscard]] std::int64_t to_milliseconds(WallTime time);
/// Milliseconds since 1970. The system clock counts to the year 2262: later moments become its last, earlier
/// ones than it knows its first.
[[nodiscard]] WallTime from_milliseconds(std::int64_t milliseconds);

}  // namespace aflguard
