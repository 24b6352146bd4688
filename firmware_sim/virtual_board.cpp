#include "firmware_sim/virtual_board.h"

#include "core/base/child_process.h"
#include "firmware_sim/process_board.h"

namespace aflguard::firmware_sim {
namespace fs = std::filesystem;
namespace {

constexpr const char* kMachine = "qemu-system-aarch64";
constexpr const char* kMakeDisk = "mke2fs";
constexpr std::uint64_t kMegabyte = 1 << 20;
constexpr std::uint64_t kSmallestState = 32 * kMegabyte;
constexpr const char* kStateInBoard = "/var/lib/aflguard/state";

fs::path card_disk(const BoardFolder& folder) {
  return folder.root / "card.img";
}
fs::path state_disk(const BoardFolder& folder) {
  return folder.root / "state.img";
}

/// A comma ends a value in QEMU's options; two of them are one that does not.
std::string escaped(const fs::path& path) {
  std::string text;
  for (const char letter : path.string()) text += letter == ',' ? ",," : std::string(1, letter);
  return text;
}

void add_disk(std::vector<std::string>& command, const std::string& name, const fs::path& file,
              bool read_only) {
  // The board finds its disks by their serial numbers: their order depends on the kernel.
  command.insert(command.end(), {"-drive",
                                 "if=none,id=" + name + ",format=raw,file=" + escaped(file) +
                                     (read_only ? ",readonly=on" : ""),
                                 "-device", "virtio-blk-device,drive=" + name + ",serial=" + name});
}

}  // namespace

Result<std::uint64_t> folder_bytes(const fs::path& folder) {
  std::error_code error;
  std::uint64_t bytes = 0;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->is_regular_file(error)) bytes += it->file_size(error);
  }
  if (error) return io_error("cannot read " + folder.string() + ": " + error.message());
  return bytes;
}

Status make_disk(const fs::path& file, const std::string& label, const fs::path& content,
                 std::uint64_t bytes) {
  const fs::path staging = file.string() + ".new";
  std::error_code error;
  fs::remove(staging, error);
  std::vector<std::string> command = {
      find_program(kMakeDisk).string(), "-q", "-F", "-t", "ext4", "-L", label, "-E", "root_owner=0:0"};
  if (!content.empty()) command.insert(command.end(), {"-d", content.string()});
  command.insert(command.end(), {staging.string(), std::to_string(bytes / 1024 + 1) + "k"});
  TRY(const ProgramOutcome made, run_program(command, "/"));
  if (made.exit_code != 0) {
    fs::remove(staging, error);
    return io_error("mke2fs cannot make " + file.string() + ": " + made.last_line());
  }
  fs::rename(staging, file, error);
  if (error) return io_error("cannot make " + file.string() + ": " + error.message());
  return {};
}

Status VirtualBoard::check_machine() const {
  if (find_program(kMachine).empty())
    return not_found(std::string(kMachine) + " is not installed: apt-get install qemu-system-arm");
  if (find_program(kMakeDisk).empty())
    return not_found(std::string(kMakeDisk) + " is not installed: apt-get install e2fsprogs");
  for (const fs::path& part : {kit_.kernel(), kit_.initial_disk(), kit_.root_disk()}) {
    std::error_code error;
    if (fs::exists(part, error)) continue;
    return not_found("there is no " + part.string() +
                     "; ./run boards makes what virtual boards boot from, --kit DIR names another place");
  }
  return {};
}

std::string VirtualBoard::state_folder(const BoardFolder&) const {
  return kStateInBoard;
}

std::vector<std::string> VirtualBoard::command(const Board& board, const BoardFolder& folder) const {
  std::string append = "console=ttyAMA0 quiet cma=0 panic=-1 rootfstype=ramfs aflguard.name=" + board.name;
  if (!board.honest()) append += " aflguard.attack=" + board.attack;
  std::vector<std::string> command = {kMachine,
                                      "-M",
                                      "virt",
                                      "-cpu",
                                      "cortex-a72",
                                      "-m",
                                      std::to_string(kBoardMegabytes),
                                      "-nodefaults",
                                      "-no-reboot",
                                      "-display",
                                      "none",
                                      "-monitor",
                                      "none",
                                      "-chardev",
                                      "stdio,id=console,signal=off",
                                      "-serial",
                                      "chardev:console",
                                      "-kernel",
                                      kit_.kernel().string(),
                                      "-initrd",
                                      kit_.initial_disk().string(),
                                      "-append",
                                      append};
  add_disk(command, "root", kit_.root_disk(), /*read_only=*/true);
  add_disk(command, "card", card_disk(folder), /*read_only=*/true);
  add_disk(command, "state", state_disk(folder), /*read_only=*/false);
  command.insert(command.end(), {"-netdev", "user,id=net", "-device", "virtio-net-device,netdev=net"});
  return command;
}

Result<std::vector<std::string>> VirtualBoard::build(const Board& board, const BoardFolder& folder) const {
  TRY(const std::uint64_t card, folder_bytes(folder.card()));
  TRY_STATUS(make_disk(card_disk(folder), "card", folder.card(), card + card / 8 + 8 * kMegabyte));
  std::error_code error;
  if (!fs::exists(state_disk(folder), error)) {
    // Two updates, each as large as the model, and the journal.
    TRY(const std::uint64_t model, folder_bytes(folder.card() / "model"));
    TRY_STATUS(make_disk(state_disk(folder), "state", {}, kSmallestState + 8 * model));
  }
  return command(board, folder);
}

}  // namespace aflguard::firmware_sim
