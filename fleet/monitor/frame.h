#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace aflguard::view {

/// How a piece of text looks. A terminal without colour shows the same words, and inverse ones as such.
enum class Style : std::uint8_t { kPlain, kDim, kBold, kInverse, kGood, kNotice, kWarning, kAlarm, kAccent };

struct Cell {
  char32_t glyph = U' ';
  Style style = Style::kPlain;

  friend bool operator==(const Cell&, const Cell&) = default;
};

struct ScreenSize {
  std::size_t columns = 80;
  std::size_t rows = 24;

  friend bool operator==(const ScreenSize&, const ScreenSize&) = default;
};

/// What a screen shows at one moment. Every glyph is one column wide.
class Frame final {
 public:
  explicit Frame(ScreenSize size) : size_(size), cells_(size.columns * size.rows) {}

  [[nodiscard]] ScreenSize size() const { return size_; }
  [[nodiscard]] const Cell& at(std::size_t row, std::size_t column) const {
    return cells_[row * size_.columns + column];
  }
  /// Writes from `column` on; what does not fit is cut. Returns the column behind it.
  std::size_t put(std::size_t row, std::size_t column, std::u32string_view text, Style style = Style::kPlain);
  /// The same for ASCII; anything else becomes '?'.
  std::size_t put(std::size_t row, std::size_t column, std::string_view text, Style style = Style::kPlain);
  /// The whole row in one style, text and all.
  void paint(std::size_t row, Style style);

  /// The rows as text, without styles, blanks at the end left out: for tests and for people without a
  /// terminal.
  [[nodiscard]] std::vector<std::string> text() const;

  friend bool operator==(const Frame&, const Frame&) = default;

 private:
  ScreenSize size_;
  std::vector<Cell> cells_;
};

[[nodiscard]] std::string to_utf8(char32_t glyph);

}  // namespace aflguard::view
