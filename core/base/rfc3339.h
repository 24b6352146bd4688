#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace aflguard {

/// A moment in UTC to the second, "2026-03-01T17:45:00Z"; years 0 to 9999.
[[nodiscard]] std::string to_rfc3339(std::chrono::system_clock::time_point time);
/// The same for moments beyond 2262, which the system clock cannot count to.
[[nodiscard]] std::string to_rfc3339(std::chrono::sys_seconds time);

/// The system clock counts to the year 2262: later moments become its last, earlier ones than it knows its
/// first. No certificate that is valid "for ever" shall have ended.
[[nodiscard]] std::chrono::system_clock::time_point nearest_system_time(std::chrono::sys_seconds time);

/// The moment that `text` names in exactly that form, as near as the system clock has it; kInvalidInput for
/// anything else.
[[nodiscard]] Result<std::chrono::system_clock::time_point> parse_rfc3339(std::string_view text);

}  // namespace aflguard
