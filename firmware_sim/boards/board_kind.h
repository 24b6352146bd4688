#pragma once

#include <filesystem>
#include <string>

#include "core/base/result.h"
#include "firmware_sim/boards/board.h"

namespace aflguard::sim {

/// A folder of one board: what its kind makes is in there, beside what was put there for it.
struct BoardFolder {
  std::filesystem::path root;

  /// What an operator would put on the board: client.toml, certificate, key, model and samples. Paths in
  /// client.toml are relative to it, except for the state's.
  [[nodiscard]] std::filesystem::path card() const { return root / "card"; }
  /// A table on the card that the board predicts, where one was given.
  [[nodiscard]] static std::string rows_name() { return "rows.csv"; }
};

/// How boards of one depth are made. One class per depth; a simulation knows them by this interface alone.
class BoardKind {
 public:
  virtual ~BoardKind() = default;

  /// kNotFound, with what to do, when this machine lacks something that this board needs.
  [[nodiscard]] virtual Status check_machine(const Board& board) const = 0;
  /// Where the client keeps what must survive, as its configuration says it.
  [[nodiscard]] virtual std::string state_folder(const BoardFolder& folder) const = 0;
  /// The command, as the board's client starts it, that predicts the card's file rows.csv with the exported
  /// model. kUnsupported where boards of this kind cannot have such a file.
  [[nodiscard]] virtual Result<std::vector<std::string>> prediction(const BoardFolder& folder) const = 0;
  /// Makes what the board runs from, out of its card. State that an earlier run has left stays, unless the
  /// kind says otherwise. The arguments of the command that runs it; a board that is killed can be started
  /// again by the same command. The board reaches port `board.link_port` of this machine's loopback under the
  /// name "localhost", which every fleet's broker has in its certificate.
  [[nodiscard]] virtual Result<std::vector<std::string>> build(const Board& board,
                                                               const BoardFolder& folder) const = 0;
};

}  // namespace aflguard::sim
