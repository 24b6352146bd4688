#pragma once

#include "firmware_sim/boards/board_kind.h"
#include "firmware_sim/boards/process_board.h"

namespace aflguard::sim {

/// "image": a virtual machine that starts from a card with the very image that real boards start from, with
/// that image's own kernel, initial file system and command line. Each board's card is a copy of the image,
/// larger than it, as cards are. What the board is reaches it as it reaches a real one: as an archive on the
/// boot partition, which it takes and removes. The card stays, and so does all that the board keeps on it,
/// until the image is another one, or the board turns into a malicious device (or another one) or back: then
/// the card is written again.
class ImageBoard final : public BoardKind {
 public:
  /// `programs`: the boards' (arm64); a malicious device's card gets one of them, since no image has it.
  ImageBoard(std::filesystem::path image, ClientPrograms programs)
      : image_(std::move(image)), programs_(std::move(programs)) {}

  [[nodiscard]] Status check_machine(const Board& board) const override;
  [[nodiscard]] std::string state_folder(const BoardFolder& folder) const override;
  [[nodiscard]] Result<std::vector<std::string>> prediction(const BoardFolder& folder) const override;
  [[nodiscard]] Result<std::vector<std::string>> build(const Board& board,
                                                       const BoardFolder& folder) const override;

 private:
  [[nodiscard]] Status provide_card(const Board& board, const std::filesystem::path& card) const;
  [[nodiscard]] Status write_card(const Board& board, const std::filesystem::path& card) const;
  [[nodiscard]] Status make_malicious(const std::filesystem::path& card) const;
  [[nodiscard]] std::filesystem::path malicious_program() const {
    return programs_.folder / client_program(/*honest=*/false);
  }
  std::filesystem::path image_;
  ClientPrograms programs_;
};

inline constexpr int kImageBoardMegabytes = 1024;
inline constexpr std::uint64_t kCardBytes = std::uint64_t{3} << 30;

/// What a Raspberry Pi's firmware reads from config.txt: the names of kernel and initial file system.
/// kCorrupt when it lacks one.
struct FirmwareConfig {
  std::string kernel;
  std::string initial_disk;
};
[[nodiscard]] Result<FirmwareConfig> parse_firmware_config(const std::string& text);

/// A card's command line for the kernel, for a virtual machine: its consoles are a Raspberry Pi's, and what
/// the board writes to its journal shall be seen on the machine's.
[[nodiscard]] std::string machine_kernel_line(const std::string& cmdline);

}  // namespace aflguard::sim
