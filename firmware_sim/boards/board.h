#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/system/command.h"

namespace aflguard::sim {

/// How much of a board is simulated. Words for the command line, in order of depth.
enum class Depth : std::uint8_t {
  kNative,  ///< "native": this machine's own client program
  kUser,    ///< "user": the boards' client program (arm64), its instructions translated
  kBoard,   ///< "board": a virtual machine with its own kernel, network and disks
  kImage,   ///< "image": a virtual machine that boots the very SD image
};

[[nodiscard]] std::string_view to_string(Depth depth);
/// kInvalidInput, with the words there are.
[[nodiscard]] Result<Depth> parse_depth(std::string_view word);

/// One simulated board.
struct Board {
  std::string name;  ///< the device's, in the fleet's book
  Depth depth = Depth::kUser;
  std::string attack;           ///< what it does instead of learning; empty: it is honest
  std::size_t samples = 0;      ///< how many it has
  std::uint16_t link_port = 0;  ///< of this machine's loopback: its way to the broker
  Command command;              ///< what runs it

  [[nodiscard]] bool honest() const { return attack.empty(); }
  friend bool operator==(const Board&, const Board&) = default;
};

inline constexpr std::size_t kMaxBoards = 64;

/// What was asked for.
struct BoardRequest {
  std::size_t boards = 0;      ///< 0: as many as `depth` names
  std::string depth = "user";  ///< one word for all, or numbers of each: "board=2,user=4"
  std::size_t malicious = 0;
  std::string attack{};
};

/// The boards of an order: sim-01, sim-02, ... in the order of the depths; the last ones are malicious.
/// kInvalidInput that names the value and the limit.
[[nodiscard]] Result<std::vector<Board>> plan_boards(const BoardRequest& order);

/// Null when there is no board of that name.
[[nodiscard]] const Board* find_board(std::span<const Board> boards, std::string_view name);

}  // namespace aflguard::sim
