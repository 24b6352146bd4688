#include "firmware_sim/boards/image_board.h"

#include <fstream>
#include <sstream>

#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "core/system/programs.h"
#include "firmware_sim/boards/virtual_machine.h"
#include "firmware_sim/image/boot_partition.h"

namespace aflguard::sim {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFileSystemTool = "debugfs";
constexpr const char* kMaliciousInBoard = "/usr/bin/aflguard-byzantine-client";
constexpr const char* kDropInInBoard = "/etc/systemd/system/aflguard-client.service.d/lie.conf";
/// The private libraries are those of the client's package. Which lie it tells comes with its identity.
constexpr const char* kDropIn =
    "[Service]\n"
    "Type=simple\n"
    "WatchdogSec=0\n"
    "Environment=LD_LIBRARY_PATH=/usr/lib/aflguard/client\n"
    "EnvironmentFile=/etc/aflguard/attack.env\n"
    "ExecStart=\n"
    "ExecStart=/usr/bin/aflguard-byzantine-client --config /etc/aflguard/client.toml --attack "
    "${AFLGUARD_ATTACK}\n";
constexpr std::uint64_t kMaxTextBytes = 64 * 1024;
constexpr std::uint64_t kMaxIdentityBytes = std::uint64_t{200} << 20;

fs::path card_file(const BoardFolder& folder) {
  return folder.root / "card.img";
}

/// Runs a program that must succeed.
Status run(const std::vector<std::string>& arguments) {
  TRY(const ProgramOutcome outcome, run_program(arguments, "/"));
  if (outcome.exit_code == 0) return {};
  return io_error(arguments.front() + ": " + outcome.last_line());
}

/// Equal for files that are the same, as far as their size and the time of their last change tell.
Result<std::string> likeness(const fs::path& file) {
  std::error_code error;
  const auto bytes = fs::file_size(file, error);
  if (error) return io_error("cannot read " + file.string() + ": " + error.message());
  const auto time = fs::last_write_time(file, error).time_since_epoch().count();
  return std::to_string(bytes) + " bytes of " + std::to_string(time) + "\n";
}

/// Puts a file of this machine into the ext4 file system at `offset`, and looks whether it is there: debugfs
/// itself ends well whatever happens.
Status put_root_file(const fs::path& card, std::uint64_t offset, const fs::path& source,
                     const fs::path& target, const std::string& mode) {
  const std::string place = card.string() + "?offset=" + std::to_string(offset);
  const std::string tool = find_program(kFileSystemTool).string();
  const fs::path script = card.string() + ".debugfs";
  const std::string name = target.filename().string();
  TRY_STATUS(write_file_atomically(script, "cd " + target.parent_path().string() + "\nwrite \"" +
                                               source.string() + "\" " + name + "\nset_inode_field " + name +
                                               " mode 0100" + mode + "\n"));
  const Status written = run({tool, "-w", "-f", script.string(), place});
  std::error_code error;
  fs::remove(script, error);
  if (!written.ok()) return written;
  TRY(const ProgramOutcome found, run_program({tool, "-R", "stat " + target.string(), place}, "/"));
  const std::string size = "Size: " + std::to_string(fs::file_size(source, error)) + "\n";
  if (!error && found.output.find(size) != std::string::npos &&
      found.output.find("Mode:  0" + mode) != std::string::npos)
    return {};
  return io_error("cannot write " + target.string() + " into " + card.string() + ": " + found.last_line());
}

/// The board's own files as the archive that boards take.
Status put_identity(const fs::path& card, std::uint64_t boot, const Board& board, const BoardFolder& folder) {
  if (!board.honest())
    TRY_STATUS(write_file_atomically(folder.card() / "attack.env", "AFLGUARD_ATTACK=" + board.attack + "\n"));
  const fs::path archive = folder.root / image::kIdentityFile;
  TRY_STATUS(write_file_atomically(archive, std::string_view(), FileAccess::kOwnerOnly));
  const Status packed =
      run({"tar", "--owner=0", "--group=0", "-C", folder.card().string(), "-cf", archive.string(), "."});
  auto content = read_text_file(archive, kMaxIdentityBytes);
  std::error_code error;
  fs::remove(archive, error);
  if (!packed.ok()) return packed;
  if (!content.ok()) return content.error();
  TRY_STATUS(image::put_boot_file(card, boot, {image::kIdentityFile, std::move(*content)}));
  // Under the name that every fleet's broker has in its certificate, the board finds this machine.
  return image::put_boot_file(card, boot, {"hosts", std::string(kHostInMachine) + " localhost\n"});
}

/// The text of a file on the boot partition.
Result<std::string> boot_text(const fs::path& card, std::uint64_t boot, const std::string& name,
                              const fs::path& scratch) {
  TRY_STATUS(image::take_boot_file(card, boot, name, scratch));
  auto text = read_text_file(scratch, kMaxTextBytes);
  std::error_code error;
  fs::remove(scratch, error);
  return text;
}

}  // namespace

Result<FirmwareConfig> parse_firmware_config(const std::string& text) {
  FirmwareConfig config;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    constexpr std::string_view kKernel = "kernel=";
    if (line.starts_with(kKernel)) config.kernel = line.substr(kKernel.size());
    std::istringstream words(line);
    if (std::string word; words >> word && word == "initramfs") words >> config.initial_disk;
  }
  if (config.kernel.empty() || config.initial_disk.empty())
    return corrupt("config.txt names no kernel, or no initramfs");
  return config;
}

std::string machine_kernel_line(const std::string& cmdline) {
  // A login prompt never stands in the middle of a line.
  std::string line =
      "quiet systemd.show_status=false systemd.getty_auto=false systemd.journald.forward_to_console=1";
  std::istringstream words(cmdline);
  for (std::string word; words >> word;) {
    if (!word.starts_with("console=")) line += " " + word;
  }
  return line;
}

Status ImageBoard::check_machine(const Board& board) const {
  TRY_STATUS(require_program(kMachineProgram, kMachinePackage));
  TRY_STATUS(require_program("mcopy", "mtools"));
  std::error_code error;
  if (!fs::is_regular_file(image_, error)) {
    return not_found("there is no " + image_.string() +
                     "; ./run image makes it, --image FILE names one that aflguard image build has made");
  }
  TRY_STATUS(image::find_boot_partition(image_));
  if (board.honest()) return {};
  TRY_STATUS(require_program(kFileSystemTool, "e2fsprogs"));
  if (fs::exists(malicious_program(), error)) return {};
  return not_found("there is no " + malicious_program().string() +
                   "; ./run arm64 builds it, --arm64 DIR names another place");
}

std::string ImageBoard::state_folder(const BoardFolder&) const {
  return "/var/lib/aflguard";
}

Result<std::vector<std::string>> ImageBoard::prediction(const BoardFolder&) const {
  return unsupported(
      "boards of depth image take their identity and nothing else from the card: --predict goes with native, "
      "user and board");
}

Status ImageBoard::make_malicious(const fs::path& card) const {
  TRY(const std::uint64_t root, image::find_root_partition(card));
  TRY_STATUS(put_root_file(card, root, malicious_program(), kMaliciousInBoard, "755"));
  const fs::path drop_in = card.string() + ".lie";
  TRY_STATUS(write_file_atomically(drop_in, kDropIn));
  const Status put = put_root_file(card, root, drop_in, kDropInInBoard, "644");
  std::error_code error;
  fs::remove(drop_in, error);
  return put;
}

Status ImageBoard::write_card(const Board& board, const fs::path& card) const {
  // It will hold a key. An empty file first: no other user may read it at any time.
  TRY_STATUS(write_file_atomically(card, std::string_view(), FileAccess::kOwnerOnly));
  TRY_STATUS(run({"cp", "--sparse=always", "--no-preserve=mode", image_.string(), card.string()}));
  std::error_code error;
  if (fs::file_size(card, error) < kCardBytes) fs::resize_file(card, kCardBytes, error);
  if (error) return io_error("cannot make " + card.string() + " as large as a card: " + error.message());
  return board.honest() ? Status() : make_malicious(card);
}

Status ImageBoard::provide_card(const Board& board, const fs::path& card) const {
  TRY(std::string wanted, likeness(image_));
  if (!board.honest()) {
    TRY(const std::string malicious, likeness(malicious_program()));
    wanted += malicious + kDropIn;
  }
  const fs::path note = card.string() + ".made-of";
  std::error_code error;
  if (const auto found = read_text_file(note, kMaxTextBytes);
      found.ok() && *found == wanted && fs::exists(card, error)) {
    return {};
  }
  const fs::path staging = card.string() + ".new";
  if (Status written = write_card(board, staging); !written.ok()) {
    fs::remove(staging, error);
    return written;
  }
  // Without its note a card is written once more; with another's it would not be.
  fs::remove(note, error);
  fs::rename(staging, card, error);
  if (error) return io_error("cannot make " + card.string() + ": " + error.message());
  return write_file_atomically(note, wanted);
}

Result<std::vector<std::string>> ImageBoard::build(const Board& board, const BoardFolder& folder) const {
  const fs::path card = card_file(folder);
  TRY_STATUS(provide_card(board, card));
  TRY(const std::uint64_t boot, image::find_boot_partition(card));
  TRY_STATUS(put_identity(card, boot, board, folder));

  // What a Raspberry Pi's firmware would do.
  const fs::path scratch = folder.root / "boot-file";
  TRY(const std::string config, boot_text(card, boot, "config.txt", scratch));
  TRY(const std::string cmdline, boot_text(card, boot, "cmdline.txt", scratch));
  auto names = parse_firmware_config(config);
  if (!names.ok()) return at(image_.string(), names.error());
  VirtualMachine machine;
  machine.kernel = folder.root / "kernel";
  machine.initial_disk = folder.root / "initrd";
  TRY_STATUS(image::take_boot_file(card, boot, names->kernel, machine.kernel));
  TRY_STATUS(image::take_boot_file(card, boot, names->initial_disk, machine.initial_disk));
  machine.kernel_line = machine_kernel_line(cmdline);
  machine.processors = 2;
  machine.megabytes = kImageBoardMegabytes;
  machine.bus = MachineBus::kPci;
  machine.disks = {{"card", card, /*read_only=*/false}};
  return machine.command();
}

}  // namespace aflguard::sim
