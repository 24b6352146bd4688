#include "fleet/view/view_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "core/base/rfc3339.h"

namespace aflguard::view {

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t place = digits.size(); place > 3; place -= 3) digits.insert(place - 3, ",");
  return digits;
}

std::string formatted(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string formatted(const char* format, const std::optional<double>& value) {
  return value ? formatted(format, *value) : "-";
}

std::string percent(const std::optional<double>& share) {
  return share ? formatted("%.0f %%", *share * 100) : "-";
}

std::string short_duration(std::chrono::seconds duration) {
  const auto seconds = std::max<std::int64_t>(0, duration.count());
  if (seconds < 100) return std::to_string(seconds) + " s";
  if (seconds < 100 * 60) return std::to_string(seconds / 60) + " min";
  if (seconds < 48 * 3600) return std::to_string(seconds / 3600) + " h";
  return std::to_string(std::min<std::int64_t>(seconds / 86'400, 9999)) + " d";
}

std::string time_of_day(std::chrono::system_clock::time_point time) {
  return to_rfc3339(time).substr(11, 8);
}

std::string byte_size(double bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < kUnits.size()) {
    bytes /= 1000;
    ++unit;
  }
  return formatted(bytes < 10 && unit > 0 ? "%.1f " : "%.0f ", bytes) + kUnits[unit];
}

}  // namespace aflguard::view
