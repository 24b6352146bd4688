#include "firmware_sim/process_board.h"

#include <cstdlib>
#include <sstream>
#include <unistd.h>

namespace aflguard::firmware_sim {
namespace fs = std::filesystem;
namespace {

constexpr const char* kTranslator = "qemu-aarch64-static";

}  // namespace

std::string client_program(bool honest) {
  return honest ? "aflguard-client" : "aflguard-byzantine-client";
}

fs::path find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(std::string(path == nullptr ? "" : path) + ":/usr/sbin:/sbin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder) / name;
    if (!folder.empty() && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

ProcessBoard ProcessBoard::translated(ClientPrograms programs) {
#if defined(__aarch64__)
  return native(std::move(programs));
#else
  // Without a named processor qemu-user imitates one that has everything, and takes 17 times as long.
  return ProcessBoard(std::move(programs), {kTranslator, "-cpu", "cortex-a72"});
#endif
}

fs::path ProcessBoard::program(bool honest) const {
  return programs_.folder / client_program(honest);
}

Status ProcessBoard::check_machine() const {
  if (!translator_.empty() && find_program(translator_.front()).empty()) {
    return not_found(translator_.front() + " is not installed: apt-get install qemu-user-static");
  }
  for (const bool honest : {true, false}) {
    std::error_code error;
    if (fs::exists(program(honest), error)) continue;
    return not_found("there is no " + program(honest).string() +
                     (translator_.empty() ? "; build or install the whole product"
                                          : "; ./run arm64 builds it, --arm64 DIR names another place"));
  }
  return {};
}

std::string ProcessBoard::state_folder(const BoardFolder& folder) const {
  return (folder.root / "state").string();
}

Result<std::vector<std::string>> ProcessBoard::build(const Board& board, const BoardFolder& folder) const {
  std::vector<std::string> command = translator_;
  command.insert(command.end(),
                 {program(board.honest()).string(), "--config", (folder.card() / "client.toml").string()});
  if (!board.honest()) command.insert(command.end(), {"--attack", board.attack});
  return command;
}

}  // namespace aflguard::firmware_sim
