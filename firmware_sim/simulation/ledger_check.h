#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "firmware_sim/boards/board_log.h"

namespace aflguard::sim {

/// One line of the gateway's history, as its store has it.
struct JudgedUpdate {
  std::uint64_t iteration = 0;
  std::string device;
  std::uint64_t sequence = 0;
  bool accepted = false;
  std::uint64_t version = 0;  ///< of the model after it
};

/// What a board says, and whether it can be believed: a malicious one numbers its updates as it likes.
struct BoardAccount {
  std::string name;
  bool honest = true;
  BoardLog log;
};

/// What two sides know of the same updates, held against each other.
struct LedgerReport {
  std::size_t judged = 0;             ///< by the gateway, of these boards
  std::size_t acknowledged = 0;       ///< verdicts that boards know
  std::size_t lost = 0;               ///< acknowledged, and not in the history
  std::size_t repeated = 0;           ///< judged twice
  std::size_t contradicted = 0;       ///< acknowledged otherwise than judged
  std::size_t gaps = 0;               ///< missing iterations, versions, sequence numbers
  std::vector<std::string> problems;  ///< one line each, at most kMaxProblems

  [[nodiscard]] bool holds() const { return lost + repeated + contradicted + gaps == 0; }
};

inline constexpr std::size_t kMaxProblems = 20;

/// The iterations after which the fleet trained another model: its first version is one higher, and an update
/// of the former model that a board still had at hand is given up with its number.
using ModelChanges = std::vector<std::uint64_t>;

/// Every acknowledged update is in the history, with the same outcome and in a version that the board was
/// told of; none was judged twice; iterations and versions have no gaps, and the sequence numbers of honest
/// boards neither. Boards' logs must be read before the history. `history` is in order and may begin later
/// than at 1, when old verdicts were cleared away.
[[nodiscard]] LedgerReport check_ledgers(const std::vector<JudgedUpdate>& history,
                                         const std::vector<BoardAccount>& boards,
                                         const ModelChanges& changes = {});

}  // namespace aflguard::sim
