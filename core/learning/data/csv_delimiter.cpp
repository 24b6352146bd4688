#include "core/learning/data/csv_delimiter.h"

#include <cstddef>
#include <vector>

namespace aflguard {
namespace {

constexpr std::size_t kLines = 50;

std::size_t columns_of(std::string_view line, char delimiter) {
  if (delimiter == ' ') {
    std::size_t columns = 0;
    bool between = true;
    for (const char c : line) {
      const bool blank = c == ' ' || c == '\t';
      columns += between && !blank ? 1 : 0;
      between = blank;
    }
    return columns;
  }
  std::size_t columns = 1;
  bool in_quotes = false;
  for (const char c : line) {
    if (c == '"') in_quotes = !in_quotes;
    if (c == delimiter && !in_quotes) ++columns;
  }
  return columns;
}

std::vector<std::string_view> first_lines(std::string_view head) {
  std::vector<std::string_view> lines;
  while (!head.empty() && lines.size() < kLines) {
    const std::size_t end = head.find('\n');
    std::string_view line = head.substr(0, end);
    // What the head cuts off is not a line.
    if (end == std::string_view::npos && !lines.empty()) break;
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") != std::string_view::npos) lines.push_back(line);
  }
  return lines;
}

}  // namespace

char find_delimiter(std::string_view head) {
  const auto lines = first_lines(head);
  if (lines.empty()) return ',';
  for (const char delimiter : {';', '\t', '|', ',', ' '}) {
    const std::size_t columns = columns_of(lines.front(), delimiter);
    if (columns < 2) continue;
    std::size_t agree = 0;
    for (const std::string_view line : lines) agree += columns_of(line, delimiter) == columns ? 1 : 0;
    // A damaged line here and there does not change what the table is.
    if (agree * 5 >= lines.size() * 4) return delimiter;
  }
  return ',';
}

}  // namespace aflguard
