#include "firmware_sim/boards/process_board.h"

#include "core/system/programs.h"

namespace aflguard::sim {
namespace fs = std::filesystem;
namespace {

constexpr const char* kTranslator = "qemu-aarch64-static";

}  // namespace

std::string client_program(bool honest) {
  return honest ? "aflguard-client" : "aflguard-byzantine-client";
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

Status ProcessBoard::check_machine(const Board& board) const {
  if (!translator_.empty()) TRY_STATUS(require_program(translator_.front(), "qemu-user-static"));
  std::error_code error;
  const fs::path wanted = program(board.honest());
  if (fs::exists(wanted, error)) return {};
  return not_found("there is no " + wanted.string() +
                   (translator_.empty() ? "; build or install the whole product"
                                        : "; ./run arm64 builds it, --arm64 DIR names another place"));
}

std::string ProcessBoard::state_folder(const BoardFolder& folder) const {
  return (folder.root / "state").string();
}

Result<std::vector<std::string>> ProcessBoard::prediction(const BoardFolder& folder) const {
  std::vector<std::string> command = translator_;
  command.insert(command.end(), {program(/*honest=*/true).string(), "predict", "--config",
                                 (folder.card() / "client.toml").string(), "--rows",
                                 (folder.card() / BoardFolder::rows_name()).string()});
  return command;
}

Result<std::vector<std::string>> ProcessBoard::build(const Board& board, const BoardFolder& folder) const {
  std::vector<std::string> command = translator_;
  command.insert(command.end(),
                 {program(board.honest()).string(), "--config", (folder.card() / "client.toml").string()});
  if (!board.honest()) command.insert(command.end(), {"--attack", board.attack});
  return command;
}

}  // namespace aflguard::sim
