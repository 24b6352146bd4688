#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace aflguard::view {

enum class Glyphs : unsigned char { kAscii, kUnicode };

/// One character per value, the higher the larger, between `low` and `high`; a blank where there is none.
/// Values outside are drawn at the edge. When `high` is not above `low`, everything is drawn in the middle.
[[nodiscard]] std::u32string sparkline(std::span<const std::optional<double>> values, double low, double high,
                                       Glyphs glyphs);

/// The same between the smallest and the largest value, from 0 on when `from_zero`.
[[nodiscard]] std::u32string sparkline(std::span<const std::optional<double>> values, bool from_zero,
                                       Glyphs glyphs);

}  // namespace aflguard::view
