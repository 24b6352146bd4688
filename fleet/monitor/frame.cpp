#include "fleet/monitor/frame.h"

namespace aflguard::view {

std::size_t Frame::put(std::size_t row, std::size_t column, std::u32string_view text, Style style) {
  if (row >= size_.rows) return column;
  for (const char32_t glyph : text) {
    if (column >= size_.columns) break;
    cells_[row * size_.columns + column++] = {glyph, style};
  }
  return column;
}

std::size_t Frame::put(std::size_t row, std::size_t column, std::string_view text, Style style) {
  if (row >= size_.rows) return column;
  for (const char letter : text) {
    if (column >= size_.columns) break;
    const bool printable = letter >= ' ' && letter <= '~';
    cells_[row * size_.columns + column++] = {printable ? static_cast<char32_t>(letter) : U'?', style};
  }
  return column;
}

void Frame::paint(std::size_t row, Style style) {
  if (row >= size_.rows) return;
  for (std::size_t column = 0; column < size_.columns; ++column) {
    cells_[row * size_.columns + column].style = style;
  }
}

std::vector<std::string> Frame::text() const {
  std::vector<std::string> rows;
  for (std::size_t row = 0; row < size_.rows; ++row) {
    std::string line;
    for (std::size_t column = 0; column < size_.columns; ++column) line += to_utf8(at(row, column).glyph);
    line.erase(line.find_last_not_of(' ') + 1);
    rows.push_back(std::move(line));
  }
  return rows;
}

std::string to_utf8(char32_t glyph) {
  const auto byte = [](char32_t value) { return static_cast<char>(static_cast<unsigned char>(value)); };
  if (glyph < 0x80) return {byte(glyph)};
  if (glyph < 0x800) return {byte(0xc0 | (glyph >> 6)), byte(0x80 | (glyph & 0x3f))};
  return {byte(0xe0 | (glyph >> 12)), byte(0x80 | ((glyph >> 6) & 0x3f)), byte(0x80 | (glyph & 0x3f))};
}

}  // namespace aflguard::view
