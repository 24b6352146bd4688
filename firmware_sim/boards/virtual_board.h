#pragma once

#include "firmware_sim/boards/board_kind.h"

namespace aflguard::sim {

/// What virtual boards boot from; `./run boards` makes it. All boards share it and none can write to it.
struct BoardKit {
  std::filesystem::path folder;

  [[nodiscard]] std::filesystem::path kernel() const { return folder / "vmlinuz"; }
  [[nodiscard]] std::filesystem::path initial_disk() const { return folder / "initrd.gz"; }
  [[nodiscard]] std::filesystem::path root_disk() const { return folder / "root.img"; }
};

/// "board": QEMU's machine `virt` with Debian's arm64 kernel. Three disks: programs (the kit's, read-only),
/// the card (read-only, made again for every simulation) and the state, which stays. The network is QEMU's
/// user-mode network: the board reaches this machine's loopback, the board cannot be reached.
class VirtualBoard final : public BoardKind {
 public:
  explicit VirtualBoard(BoardKit kit) : kit_(std::move(kit)) {}

  [[nodiscard]] Status check_machine(const Board& board) const override;
  [[nodiscard]] std::string state_folder(const BoardFolder& folder) const override;
  [[nodiscard]] Result<std::vector<std::string>> prediction(const BoardFolder& folder) const override;
  [[nodiscard]] Result<std::vector<std::string>> build(const Board& board,
                                                       const BoardFolder& folder) const override;

  /// The command alone.
  [[nodiscard]] std::vector<std::string> command(const Board& board, const BoardFolder& folder) const;

 private:
  BoardKit kit_;
};

inline constexpr int kBoardMegabytes = 128;

/// A file with an ext4 file system that holds a copy of `content`; an empty one when that is empty. Made
/// without mounting anything, whole or not at all.
[[nodiscard]] Status make_disk(const std::filesystem::path& file, const std::string& label,
                               const std::filesystem::path& content, std::uint64_t bytes);
/// Bytes of all files in a folder.
[[nodiscard]] Result<std::uint64_t> folder_bytes(const std::filesystem::path& folder);

}  // namespace aflguard::sim
