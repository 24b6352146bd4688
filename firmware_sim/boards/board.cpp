#include "firmware_sim/boards/board.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "core/base/nearest_name.h"

namespace aflguard::sim {
namespace {

constexpr std::array<std::string_view, 4> kDepths = {"native", "user", "board", "image"};

Result<std::size_t> parse_count(std::string_view text, std::string_view whole) {
  std::size_t count = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (problem == std::errc() && end == text.data() + text.size() && count > 0 && count <= kMaxBoards)
    return count;
  return invalid_input("'" + std::string(text) + "' in --depth " + std::string(whole) +
                       " is not a number of boards from 1 to " + std::to_string(kMaxBoards));
}

/// "board=2,user=4" -> a depth for every board.
Result<std::vector<Depth>> parse_counts(std::string_view whole) {
  std::vector<Depth> depths;
  std::string_view rest = whole;
  while (true) {
    const auto comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    const auto equals = part.find('=');
    if (equals == std::string_view::npos) {
      return invalid_input("'" + std::string(part) + "' in --depth " + std::string(whole) +
                           " has no number; write it as board=2,user=4");
    }
    TRY(const Depth depth, parse_depth(part.substr(0, equals)));
    TRY(const std::size_t count, parse_count(part.substr(equals + 1), whole));
    depths.insert(depths.end(), count, depth);
    if (comma == std::string_view::npos) return depths;
    rest.remove_prefix(comma + 1);
  }
}

Result<std::vector<Depth>> depths_of(const BoardRequest& order) {
  if (order.depth.find_first_of("=,") == std::string::npos) {
    TRY(const Depth depth, parse_depth(order.depth));
    return std::vector<Depth>(order.boards, depth);
  }
  TRY(auto depths, parse_counts(order.depth));
  if (order.boards != 0 && order.boards != depths.size()) {
    return invalid_input("--boards " + std::to_string(order.boards) + " and --depth " + order.depth +
                         " disagree: the latter are " + std::to_string(depths.size()));
  }
  return depths;
}

}  // namespace

std::string_view to_string(Depth depth) {
  return kDepths[static_cast<std::size_t>(depth)];
}

Result<Depth> parse_depth(std::string_view word) {
  const auto found = std::find(kDepths.begin(), kDepths.end(), word);
  if (found == kDepths.end()) return invalid_input(unknown_name("depth", word, kDepths));
  return static_cast<Depth>(found - kDepths.begin());
}

Result<std::vector<Board>> plan_boards(const BoardRequest& order) {
  TRY(const auto depths, depths_of(order));
  if (depths.empty() || depths.size() > kMaxBoards) {
    return invalid_input(std::to_string(depths.size()) + " boards; a simulation has 1 to " +
                         std::to_string(kMaxBoards) + " (--boards)");
  }
  if (order.malicious > depths.size()) {
    return invalid_input(std::to_string(order.malicious) + " malicious of " + std::to_string(depths.size()) +
                         " boards; there cannot be more than all");
  }
  std::vector<Board> boards;
  for (std::size_t i = 0; i < depths.size(); ++i) {
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "sim-%02zu", i + 1);
    Board board;
    board.name = name.data();
    board.depth = depths[i];
    if (i + order.malicious >= depths.size()) board.attack = order.attack;
    boards.push_back(std::move(board));
  }
  return boards;
}

const Board* find_board(std::span<const Board> boards, std::string_view name) {
  const auto found =
      std::find_if(boards.begin(), boards.end(), [name](const Board& board) { return board.name == name; });
  return found == boards.end() ? nullptr : &*found;
}

}  // namespace aflguard::sim
