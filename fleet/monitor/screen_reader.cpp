#include "fleet/monitor/screen_reader.h"

#include <algorithm>
#include <cstdlib>

namespace aflguard::view {
namespace {

constexpr char kEscape = '\x1b';

std::size_t utf8_length(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte < 0x80) return 1;
  if (byte < 0xe0) return 2;
  return byte < 0xf0 ? 3 : 4;
}

char32_t decode(std::string_view glyph) {
  if (glyph.size() == 1) return static_cast<unsigned char>(glyph[0]);
  char32_t value = static_cast<unsigned char>(glyph[0]) & (0xffu >> (glyph.size() + 1));
  for (const char next : glyph.substr(1)) value = value << 6 | (static_cast<unsigned char>(next) & 0x3fu);
  return value;
}

}  // namespace

void ScreenReader::feed(std::string_view bytes) {
  rest_ += bytes;
  while (const std::size_t taken = take_one()) rest_.erase(0, taken);
}

std::size_t ScreenReader::take_one() {
  if (rest_.empty()) return 0;
  if (rest_[0] == kEscape) {
    const auto end = std::find_if(rest_.begin() + 1, rest_.end(),
                                  [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); });
    if (end == rest_.end()) return 0;
    const auto length = static_cast<std::size_t>(end - rest_.begin()) + 1;
    obey(std::string_view(rest_).substr(0, length));
    return length;
  }
  const std::size_t length = utf8_length(rest_[0]);
  if (rest_.size() < length) return 0;
  const char32_t glyph = decode(std::string_view(rest_).substr(0, length));
  if (glyph == U'\n' || glyph == U'\r') return length;  // frames place every row themselves
  if (row_ < frame_.size().rows) frame_.put(row_, column_, std::u32string_view(&glyph, 1));
  ++column_;
  return length;
}

void ScreenReader::obey(std::string_view sequence) {
  if (sequence == "\x1b[2J") {
    frame_ = Frame(frame_.size());
  } else if (sequence.back() == 'H') {
    const std::string numbers(sequence.substr(2));
    const auto semicolon = numbers.find(';');
    const std::size_t row = std::strtoul(numbers.c_str(), nullptr, 10);
    const std::size_t column =
        semicolon == std::string::npos ? 1 : std::strtoul(numbers.c_str() + semicolon + 1, nullptr, 10);
    row_ = std::max<std::size_t>(row, 1) - 1;
    column_ = std::max<std::size_t>(column, 1) - 1;
  }
}

bool ScreenReader::shows(std::string_view text) const {
  const auto rows = frame_.text();
  return std::any_of(rows.begin(), rows.end(),
                     [&](const std::string& row) { return row.find(text) != std::string::npos; });
}

}  // namespace aflguard::view
