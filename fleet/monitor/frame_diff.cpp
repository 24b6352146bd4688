#include "fleet/monitor/frame_diff.h"

namespace aflguard::view {
namespace {

std::string style_code(Style style, bool colour) {
  // Sixteen colours: those that every terminal has, and that its owner has chosen.
  switch (style) {
    case Style::kPlain:
      return "\x1b[0m";
    case Style::kDim:
      return colour ? "\x1b[0;90m" : "\x1b[0m";
    case Style::kBold:
      return "\x1b[0;1m";
    case Style::kInverse:
      return "\x1b[0;7m";
    case Style::kGood:
      return colour ? "\x1b[0;32m" : "\x1b[0m";
    case Style::kNotice:
      return colour ? "\x1b[0;36m" : "\x1b[0m";
    case Style::kWarning:
      return colour ? "\x1b[0;33m" : "\x1b[0m";
    case Style::kAlarm:
      return colour ? "\x1b[0;1;31m" : "\x1b[0;1m";
    case Style::kAccent:
      return colour ? "\x1b[0;34m" : "\x1b[0m";
  }
  return {};
}

std::string move_to(std::size_t row, std::size_t column) {
  return "\x1b[" + std::to_string(row + 1) + ";" + std::to_string(column + 1) + "H";
}

}  // namespace

std::string frame_diff(const std::optional<Frame>& before, const Frame& after, bool colour) {
  const bool all = !before || before->size() != after.size();
  std::string bytes;
  if (all) bytes += "\x1b[0m\x1b[2J";
  std::optional<Style> style;
  for (std::size_t row = 0; row < after.size().rows; ++row) {
    const auto same = [&](std::size_t column) {
      return all ? after.at(row, column) == Cell{} : before->at(row, column) == after.at(row, column);
    };
    std::size_t first = 0;
    std::size_t end = after.size().columns;
    while (first < end && same(first)) ++first;
    while (end > first && same(end - 1)) --end;
    if (first == end) continue;
    bytes += move_to(row, first);
    for (std::size_t column = first; column < end; ++column) {
      const Cell& cell = after.at(row, column);
      if (style != cell.style) bytes += style_code(cell.style, colour);
      style = cell.style;
      bytes += to_utf8(cell.glyph);
    }
  }
  if (style && *style != Style::kPlain) bytes += "\x1b[0m";
  return bytes;
}

}  // namespace aflguard::view
