#include "firmware_sim/simulation/sim_state.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "firmware_sim/simulation/simulation_control.h"
#include "fleet/folder/fleet_folder.h"
#include "gateway_server/settings/gateway_settings.h"

namespace aflguard::sim {
namespace {

using namespace sim;
using Json = nlohmann::ordered_json;

std::optional<pid_t> pid_of(const SimulationFolder& folder, const std::string& name) {
  const auto note = folder.process(name);
  // Who unplugs says so first, and the process ends a moment later.
  return note && !note->unplugged && is_running(note->mark) ? std::optional(note->mark.pid) : std::nullopt;
}

std::string state_of(const SimulationFolder& folder, const BoardState& board) {
  if (board.pid) return board.link.starved() ? "starved" : "running";
  const auto note = folder.process(board.board.name);
  return !note || note->unplugged ? "unplugged" : "ended";
}

Json optional_pid(const std::optional<pid_t>& pid) {
  return pid ? Json(*pid) : Json(nullptr);
}

Json to_json(const BoardState& board) {
  Json json = {{"name", board.board.name},
               {"depth", to_string(board.board.depth)},
               {"state", board.state},
               {"pid", optional_pid(board.pid)},
               {"attack", board.board.honest() ? Json(nullptr) : Json(board.board.attack)},
               {"samples", board.board.samples},
               {"link", to_text(board.link)},
               {"connected", board.pid && board.log.connected},
               {"starts", board.log.starts}};
  json["updates"] = board.log.verdicts.size();
  json["accepted"] = board.log.accepted();
  json["rejected"] = board.log.rejected();
  json["last_sequence"] =
      board.log.verdicts.empty() ? Json(nullptr) : Json(board.log.verdicts.rbegin()->first);
  json["judged"] = nullptr;
  if (board.judged)
    json["judged"] = {{"accepted", board.judged->accepted}, {"rejected", board.judged->rejected}};
  json["log"] = board.board.command.log.string();
  return json;
}

}  // namespace

bool SimulationState::running() const {
  const auto has_pid = [](const auto& program) { return program.pid.has_value(); };
  return std::any_of(services.begin(), services.end(), has_pid) ||
         std::any_of(boards.begin(), boards.end(), has_pid);
}

Result<gateway::StoreReader> open_history(const SimulationFolder& folder) {
  const fleet::FleetFolder fleet{folder.root().parent_path()};
  const auto settings = gateway::read_gateway_settings(fleet.gateway() / "gateway.toml");
  return gateway::StoreReader::open(settings.ok() ? settings->store.file
                                                  : fleet.gateway() / "state/gateway.db");
}

Result<SimulationState> look_at(const SimulationFolder& folder) {
  SimulationState found;
  TRY(found.simulation, folder.read());
  std::map<std::string, gateway::DeviceTally> judged;
  if (auto history = open_history(folder); history.ok()) {
    if (const auto progress = history->progress(); progress.ok()) {
      found.version = progress->version;
      for (const gateway::DeviceTally& device : progress->devices) judged[device.name] = device;
    }
  }
  for (const Service& service : found.simulation.services) {
    found.services.push_back({service.name, pid_of(folder, service.name), service.command.log.string()});
  }
  for (const Board& board : found.simulation.boards) {
    BoardState state;
    state.board = board;
    state.pid = pid_of(folder, board.name);
    state.link = folder.read_link(board.name);
    TRY(state.log, read_board_log(board.command.log));
    state.state = state_of(folder, state);
    if (const auto tally = judged.find(board.name); tally != judged.end()) state.judged = tally->second;
    found.boards.push_back(std::move(state));
  }
  return found;
}

Json to_json(const SimulationState& state, const SimulationFolder& folder) {
  Json json = {{"schema", "aflguard-sim-1"},       {"fleet", state.simulation.fleet},
               {"folder", folder.root().string()}, {"running", state.running()},
               {"data", state.simulation.data},    {"seed", state.simulation.seed}};
  json["broker"] = {{"host", state.simulation.broker_host}, {"port", state.simulation.broker_port}};
  json["version"] = state.version ? Json(*state.version) : Json(nullptr);
  json["services"] = Json::array();
  for (const ServiceState& service : state.services) {
    json["services"].push_back({{"name", service.name},
                                {"running", service.pid.has_value()},
                                {"pid", optional_pid(service.pid)},
                                {"log", service.log}});
  }
  json["boards"] = Json::array();
  for (const BoardState& board : state.boards) json["boards"].push_back(to_json(board));
  return json;
}

void print(const SimulationState& state) {
  std::printf("fleet '%s', broker %s:%u, samples of %s", state.simulation.fleet.c_str(),
              state.simulation.broker_host.c_str(), unsigned{state.simulation.broker_port},
              state.simulation.data.c_str());
  if (state.version) std::printf(", model version %llu", static_cast<unsigned long long>(*state.version));
  std::printf("\n");
  for (const ServiceState& service : state.services) {
    if (service.pid) {
      std::printf("  %-8s runs, process %d\n", service.name.c_str(), static_cast<int>(*service.pid));
    } else {
      std::printf("  %-8s does not run; its log: %s\n", service.name.c_str(), service.log.c_str());
    }
  }
  std::printf("%-8s %-7s %-10s %8s %8s %9s %9s  %s\n", "board", "depth", "state", "process", "samples",
              "accepted", "rejected", "attack");
  for (const BoardState& board : state.boards) {
    std::printf("%-8s %-7s %-10s %8s %8zu %9zu %9zu  %s\n", board.board.name.c_str(),
                std::string(to_string(board.board.depth)).c_str(), board.state.c_str(),
                board.pid ? std::to_string(*board.pid).c_str() : "-", board.board.samples,
                board.log.accepted(), board.log.rejected(), board.board.attack.c_str());
  }
}

Result<LedgerReport> verify(const SimulationFolder& folder) {
  TRY(const Simulation simulation, folder.read());
  // The logs first: what a board knows then, the store has for certain.
  std::vector<BoardAccount> boards;
  for (const Board& board : simulation.boards) {
    TRY(auto log, read_board_log(board.command.log));
    boards.push_back({board.name, board.honest(), std::move(log)});
  }
  TRY(auto history, open_history(folder));
  TRY(const auto verdicts, history.verdicts());
  TRY(const gateway::FleetProgress progress, history.progress());
  std::map<ClientId, std::string> names;
  for (const gateway::DeviceTally& device : progress.devices) names[device.id] = device.name;
  std::vector<JudgedUpdate> judged;
  for (const gateway::VerdictRecord& record : verdicts) {
    judged.push_back(
        {record.iteration, names[record.device], record.sequence, record.verdict.accepted, record.version});
  }
  TRY(const ModelChanges changes, history.model_changes());
  return check_ledgers(judged, boards, changes);
}

Json to_json(const LedgerReport& report) {
  return {{"holds", report.holds()},     {"acknowledged", report.acknowledged},
          {"judged", report.judged},     {"lost", report.lost},
          {"repeated", report.repeated}, {"contradicted", report.contradicted},
          {"gaps", report.gaps},         {"problems", report.problems}};
}

}  // namespace aflguard::sim
