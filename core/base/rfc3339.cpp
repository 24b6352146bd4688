#include "core/base/rfc3339.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace aflguard {
namespace {

using namespace std::chrono;

constexpr std::string_view kForm = "0000-00-00T00:00:00Z";

bool has_form(std::string_view text) {
  if (text.size() != kForm.size()) return false;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == '0' ? !digit : text[i] != kForm[i]) return false;
  }
  return true;
}

unsigned number(std::string_view text, std::size_t first, std::size_t length) {
  unsigned value = 0;
  std::from_chars(text.data() + first, text.data() + first + length, value);
  return value;
}

}  // namespace

std::string to_rfc3339(system_clock::time_point time) {
  return to_rfc3339(floor<seconds>(time));
}

std::string to_rfc3339(sys_seconds time) {
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text.data();
}

system_clock::time_point nearest_system_time(sys_seconds time) {
  constexpr auto kFirst = ceil<seconds>(system_clock::time_point::min());
  constexpr auto kLast = floor<seconds>(system_clock::time_point::max());
  return std::clamp<sys_seconds>(time, kFirst, kLast);
}

Result<system_clock::time_point> parse_rfc3339(std::string_view text) {
  const Error wrong =
      invalid_input("'" + std::string(text.substr(0, 32)) + "' is not a time like 2026-03-01T17:45:00Z");
  if (!has_form(text)) return wrong;
  const year_month_day date(year(static_cast<int>(number(text, 0, 4))), month(number(text, 5, 2)),
                            day(number(text, 8, 2)));
  const unsigned hour = number(text, 11, 2);
  const unsigned minute = number(text, 14, 2);
  const unsigned second = number(text, 17, 2);
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return wrong;
  return nearest_system_time(sys_days(date) + hours(hour) + minutes(minute) + seconds(second));
}

}  // namespace aflguard
