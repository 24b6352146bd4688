#include "core/learning/data/csv_cells.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/learning/data/csv.h"

namespace aflguard {
namespace {

constexpr std::size_t kLongestNumber = 64;

std::string_view without_blanks(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool digit(char c) {
  return c >= '0' && c <= '9';
}

/// Digits of `text` at its beginning, taken away from it; at most `most`.
std::size_t take_digits(std::string_view& text, std::size_t most) {
  std::size_t count = 0;
  while (count < most && count < text.size() && digit(text[count])) ++count;
  text.remove_prefix(count);
  return count;
}

bool take_one_of(std::string_view& text, std::string_view letters) {
  if (text.empty() || letters.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

/// 2026-11-18, 2026/11/18, 18.11.2026, 11/18/26: three numbers between two equal marks.
bool take_date(std::string_view& text) {
  std::string_view rest = text;
  const std::size_t first = take_digits(rest, 4);
  if (first == 0 || rest.empty() || std::string_view("-/.").find(rest.front()) == std::string_view::npos) {
    return false;
  }
  const char mark = rest.front();
  rest.remove_prefix(1);
  const std::size_t second = take_digits(rest, 2);
  if (second == 0 || rest.empty() || rest.front() != mark) return false;
  rest.remove_prefix(1);
  const std::size_t third = take_digits(rest, first > 2 ? 2 : 4);
  if (third == 0 || (!rest.empty() && digit(rest.front()))) return false;
  text = rest;
  return true;
}

/// 7:30, 07:30:15, 07:30:15.123456 or with a comma.
bool take_time_of_day(std::string_view& text) {
  std::string_view rest = text;
  if (take_digits(rest, 2) == 0 || !take_one_of(rest, ":") || take_digits(rest, 2) != 2) return false;
  if (take_one_of(rest, ":") && take_digits(rest, 2) != 2) return false;
  if (take_one_of(rest, ".,") && take_digits(rest, 9) == 0) return false;
  text = rest;
  return true;
}

/// Z, +01:00, +0100, AM, PM; nothing is fine too.
bool is_zone(std::string_view text) {
  text = without_blanks(text);
  if (text.empty() || text == "Z" || text == "z") return true;
  if (text.size() == 2 && lower(text[1]) == 'm') return lower(text[0]) == 'a' || lower(text[0]) == 'p';
  if (!take_one_of(text, "+-") || take_digits(text, 2) != 2) return false;
  (void)take_one_of(text, ":");
  return text.empty() || (take_digits(text, 2) == 2 && text.empty());
}

}  // namespace

bool is_missing_cell(std::string_view cell) {
  static constexpr std::array<std::string_view, 8> kWords = {"",     "na",   "n/a", "nan",
                                                             "null", "none", "-",   "?"};
  cell = without_blanks(cell);
  return std::any_of(kWords.begin(), kWords.end(), [cell](std::string_view word) {
    return std::equal(cell.begin(), cell.end(), word.begin(), word.end(),
                      [](char a, char b) { return lower(a) == b; });
  });
}

bool is_time_cell(std::string_view cell) {
  cell = without_blanks(cell);
  if (!take_date(cell)) return take_time_of_day(cell) && is_zone(cell);
  if (without_blanks(cell).empty()) return true;
  if (!take_one_of(cell, "Tt ")) return false;
  cell = without_blanks(cell);
  return take_time_of_day(cell) && is_zone(cell);
}

CsvNumbers::CsvNumbers(DecimalMark mark, char delimiter) : mark_(mark) {
  // "1,234" in quotes, in a table that is separated by commas, is one thousand and something.
  if (mark == DecimalMark::kDetect && delimiter == ',') mark_ = DecimalMark::kPoint;
}

Result<float> CsvNumbers::read(std::string_view cell) {
  const std::size_t at = cell.find_first_of(",.");
  if (at == std::string_view::npos) return parse_csv_number(cell);
  const DecimalMark found = cell[at] == ',' ? DecimalMark::kComma : DecimalMark::kPoint;
  if (mark_ != DecimalMark::kDetect && mark_ != found) {
    const bool comma = found == DecimalMark::kComma;
    return corrupt("'" + std::string(cell.substr(0, 40)) + "' has a decimal " + (comma ? "comma" : "point") +
                   ", and numbers of this table have a decimal " + (comma ? "point" : "comma") +
                   "; the key decimal says which is right");
  }
  std::array<char, kLongestNumber> with_point{};
  if (found == DecimalMark::kComma) {
    if (cell.size() > kLongestNumber) return parse_csv_number(cell);
    std::copy(cell.begin(), cell.end(), with_point.begin());
    with_point[at] = '.';
  }
  const auto number = parse_csv_number(
      found == DecimalMark::kComma ? std::string_view(with_point.data(), cell.size()) : cell);
  if (number.ok()) {
    mark_ = found;
    return number;
  }
  return parse_csv_number(cell);  // the message names the cell as it is written
}

}  // namespace aflguard
