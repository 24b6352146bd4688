#pragma once

#include <chrono>
#include <string_view>

#include "core/base/result.h"

namespace aflguard::edge {

/// A part of every day, in local time, to the minute. From its beginning on, up to but not at its end; it may
/// go over midnight.
struct QuietHours {
  int from = 0;  ///< minutes after midnight, 0 to 1439
  int to = 0;

  [[nodiscard]] bool contain(int minute) const {
    return from < to ? minute >= from && minute < to : minute >= from || minute < to;
  }
  friend bool operator==(const QuietHours&, const QuietHours&) = default;
};

/// "22:00-06:00"; kInvalidInput for anything else, and when both ends are the same.
[[nodiscard]] Result<QuietHours> parse_quiet_hours(std::string_view text);

/// Minutes after midnight in this machine's time zone.
[[nodiscard]] int local_minute(std::chrono::system_clock::time_point wall);

}  // namespace aflguard::edge
