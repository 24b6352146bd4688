#include "edge_client/training/quiet_hours.h"

#include <ctime>
#include <string>

namespace aflguard::edge {
namespace {

/// "HH:MM" as minutes after midnight, or -1.
int parse_time_of_day(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return -1;
  for (const std::size_t i : {0, 1, 3, 4}) {
    if (text[i] < '0' || text[i] > '9') return -1;
  }
  const int hour = (text[0] - '0') * 10 + (text[1] - '0');
  const int minute = (text[3] - '0') * 10 + (text[4] - '0');
  return hour < 24 && minute < 60 ? hour * 60 + minute : -1;
}

}  // namespace

Result<QuietHours> parse_quiet_hours(std::string_view text) {
  const auto dash = text.find('-');
  if (dash != std::string_view::npos) {
    const QuietHours hours{parse_time_of_day(text.substr(0, dash)), parse_time_of_day(text.substr(dash + 1))};
    if (hours.from >= 0 && hours.to >= 0 && hours.from != hours.to) return hours;
  }
  return invalid_input("'" + std::string(text) + "' is not a time of day like 22:00-06:00");
}

int local_minute(std::chrono::system_clock::time_point wall) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(wall);
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  return parts.tm_hour * 60 + parts.tm_min;
}

}  // namespace aflguard::edge
