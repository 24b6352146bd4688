#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace aflguard::view {

/// "1,234,567".
[[nodiscard]] std::string grouped(std::uint64_t number);
/// printf of one number.
[[nodiscard]] std::string formatted(const char* format, double value);
/// The same, or "-" where it is not known.
[[nodiscard]] std::string formatted(const char* format, const std::optional<double>& value);
/// "97 %"; "-" where it is not known.
[[nodiscard]] std::string percent(const std::optional<double>& share);
/// Three places at most: "8 s", "12 min", "5 h", "3 d".
[[nodiscard]] std::string short_duration(std::chrono::seconds duration);
/// "12:03:59".
[[nodiscard]] std::string time_of_day(std::chrono::system_clock::time_point time);
/// "41.2 GB".
[[nodiscard]] std::string byte_size(double bytes);

}  // namespace aflguard::view
