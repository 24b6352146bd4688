#include "firmware_sim/simulation/simulation_control.h"

#include <algorithm>
#include <csignal>

#include "core/base/nearest_name.h"
#include "core/system/file_descriptor.h"
#include "firmware_sim/boards/board_log.h"

namespace aflguard::sim {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::seconds kBoardKillTimeout{60};
/// Boards and gateway finish what they are at; a translated board on a busy machine is slow.
constexpr std::chrono::seconds kEndTimeout{10};

/// A board first, a gateway that it needs later: 0 ends first.
int order_of_end(std::string_view name) {
  if (name == kLinksService) return 1;
  if (name == kGatewayService) return 2;
  return name == kBrokerService ? 3 : 0;
}

Status mark_start(const fs::path& log) {
  TRY(const FileDescriptor file, open_log(log));
  if (write_all(file.get(), kPluggedIn)) return {};
  return io_error("cannot write " + log.string());
}

}  // namespace

bool SimulationControl::runs(std::string_view name) const {
  const auto note = folder_.process(name);
  return note && is_running(note->mark);
}

Status SimulationControl::start(std::string_view name, const Command& command) const {
  if (runs(name)) return {};
  std::error_code error;
  fs::create_directories(command.log.parent_path(), error);
  TRY_STATUS(mark_start(command.log));
  const auto started = start_detached(command, [&](const ProcessMark& mark) {
    return folder_.remember(name, {mark, /*unplugged=*/false});
  });
  if (!started.ok()) {
    folder_.forget(name);
    return started.error();
  }
  return {};
}

Status SimulationControl::kill(std::string_view name) const {
  auto note = folder_.process(name);
  if (!note) return {};
  note->unplugged = true;
  TRY_STATUS(folder_.remember(name, *note));
  return end_process(note->mark, SIGKILL, kBoardKillTimeout);
}

Status SimulationControl::plug(const Board& board) const {
  TRY_STATUS(folder_.write_link(board.name, {}));
  return start(board.name, board.command);
}

std::vector<std::string> SimulationControl::running() const {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder_.root() / "processes", error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() == ".json" && runs(it->path().stem().string()))
      names.push_back(it->path().stem().string());
  }
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return std::pair(order_of_end(a), a) < std::pair(order_of_end(b), b);
  });
  return names;
}

Status SimulationControl::stop_everything() const {
  const std::vector<std::string> names = running();
  // Others who look meanwhile must see that the end is wanted. Boards are marked last: when one is seen as
  // ended on request, all the rest is marked already. A full disk keeps nothing running.
  std::for_each(names.rbegin(), names.rend(), [this](const std::string& name) {
    if (auto note = folder_.process(name)) {
      note->unplugged = true;
      (void)folder_.remember(name, *note);
    }
  });
  // All boards get the signal before any of them is waited for.
  for (const std::string& name : names) {
    const auto note = folder_.process(name);
    if (note && order_of_end(name) == 0) (void)end_process(note->mark, SIGTERM, std::chrono::milliseconds(0));
  }
  Status outcome;
  for (const std::string& name : names) {
    const auto note = folder_.process(name);
    if (!note) continue;
    if (const Status ended = stop_process(note->mark, kEndTimeout); !ended.ok()) {
      outcome = at(name, ended.error());
      continue;
    }
    folder_.forget(name);
  }
  return outcome;
}

Result<const Board*> require_board(const Simulation& simulation, const std::string& name) {
  if (const Board* board = find_board(simulation.boards, name); board != nullptr) {
    if (!board->command.arguments.empty()) return board;
    return unavailable(
        "board " + name +
        " was not made, since the last sim up did not get that far; run aflguard sim up again");
  }
  std::vector<std::string_view> names;
  for (const Board& board : simulation.boards) names.push_back(board.name);
  return not_found(unknown_name("board", name, names));
}

}  // namespace aflguard::sim
