#include "fleet/monitor/sparkline.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace aflguard::view {
namespace {

constexpr std::u32string_view kBars = U"\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588";
constexpr std::u32string_view kMarks = U"_.-=+*#@";

}  // namespace

std::u32string sparkline(std::span<const std::optional<double>> values, double low, double high,
                         Glyphs glyphs) {
  const std::u32string_view steps = glyphs == Glyphs::kUnicode ? kBars : kMarks;
  std::u32string line;
  for (const auto& value : values) {
    if (!value || !std::isfinite(*value)) {
      line += U' ';
      continue;
    }
    const double place = high > low ? std::clamp((*value - low) / (high - low), 0.0, 1.0) : 0.5;
    const auto last = steps.size() - 1;
    line += steps[std::min(static_cast<std::size_t>(place * static_cast<double>(steps.size())), last)];
  }
  return line;
}

std::u32string sparkline(std::span<const std::optional<double>> values, bool from_zero, Glyphs glyphs) {
  std::optional<double> low;
  std::optional<double> high;
  for (const auto& value : values) {
    if (!value || !std::isfinite(*value)) continue;
    low = std::min(low.value_or(*value), *value);
    high = std::max(high.value_or(*value), *value);
  }
  if (from_zero && low) low = std::min(*low, 0.0);
  return sparkline(values, low.value_or(0), high.value_or(0), glyphs);
}

}  // namespace aflguard::view
