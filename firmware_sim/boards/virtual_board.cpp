#include "firmware_sim/boards/virtual_board.h"

#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "core/system/programs.h"
#include "firmware_sim/boards/virtual_machine.h"

namespace aflguard::sim {
namespace fs = std::filesystem;
namespace {

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
  // A card holds a key: closed to others before the first byte is in it.
  TRY_STATUS(write_file_atomically(staging, std::string_view(), FileAccess::kOwnerOnly));
  std::error_code error;
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

Status VirtualBoard::check_machine(const Board&) const {
  TRY_STATUS(require_program(kMachineProgram, kMachinePackage));
  TRY_STATUS(require_program(kMakeDisk, "e2fsprogs"));
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

Result<std::vector<std::string>> VirtualBoard::prediction(const BoardFolder&) const {
  const std::string card = "/etc/aflguard/";
  return std::vector<std::string>{"/usr/bin/aflguard-client", "predict", "--config",
                                  card + "client.toml",       "--rows",  card + BoardFolder::rows_name()};
}

std::vector<std::string> VirtualBoard::command(const Board& board, const BoardFolder& folder) const {
  VirtualMachine machine;
  machine.kernel = kit_.kernel();
  machine.initial_disk = kit_.initial_disk();
  machine.kernel_line = "quiet cma=0 panic=-1 rootfstype=ramfs aflguard.name=" + board.name;
  if (!board.honest()) machine.kernel_line += " aflguard.attack=" + board.attack;
  machine.megabytes = kBoardMegabytes;
  machine.disks = {{"root", kit_.root_disk(), /*read_only=*/true},
                   {"card", card_disk(folder), /*read_only=*/true},
                   {"state", state_disk(folder), /*read_only=*/false}};
  return machine.command();
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

}  // namespace aflguard::sim
