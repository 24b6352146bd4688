#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace aflguard {

/// A moment in UTC to the second, "2026-03-01T17:45:00Z"; years 0 to 9999.
[[nodiscard]] std::string to_rfc3339(std::chrono::system_clock::time_point time);

/// The moment that `text` names in exactly that form; kInvalidInput for anything else.
[[nodiscard]] Result<std::chrono::system_clock::time_point> parse_rfc3339(std::string_view text);

}  // namespace aflguard
