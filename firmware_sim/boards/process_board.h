#pragma once

#include "firmware_sim/boards/board_kind.h"

namespace aflguard::sim {

/// The client programs that boards run.
struct ClientPrograms {
  std::filesystem::path folder;  ///< has aflguard-client and aflguard-byzantine-client
};

/// "native" and "user": a board is one process of this machine, which reads its card and writes its state
/// beside it.
class ProcessBoard final : public BoardKind {
 public:
  /// This machine's own programs.
  [[nodiscard]] static ProcessBoard native(ClientPrograms programs) {
    return ProcessBoard(std::move(programs), {});
  }
  /// The boards' programs, for arm64, under qemu-user.
  [[nodiscard]] static ProcessBoard translated(ClientPrograms programs);

  [[nodiscard]] Status check_machine(const Board& board) const override;
  [[nodiscard]] std::string state_folder(const BoardFolder& folder) const override;
  [[nodiscard]] Result<std::vector<std::string>> prediction(const BoardFolder& folder) const override;
  [[nodiscard]] Result<std::vector<std::string>> build(const Board& board,
                                                       const BoardFolder& folder) const override;

 private:
  ProcessBoard(ClientPrograms programs, std::vector<std::string> translator)
      : programs_(std::move(programs)), translator_(std::move(translator)) {}
  [[nodiscard]] std::filesystem::path program(bool honest) const;
  ClientPrograms programs_;
  std::vector<std::string> translator_;  ///< in front of every command
};

/// What the client programs are called.
[[nodiscard]] std::string client_program(bool honest);
}  // namespace aflguard::sim
