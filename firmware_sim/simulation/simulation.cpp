#include "firmware_sim/simulation/simulation.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/system/atomic_file.h"

namespace aflguard::sim {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "aflguard-simulation-1";
constexpr std::uint64_t kMaxFileBytes = 4 << 20;

Json to_json(const Command& command) {
  return {
      {"arguments", command.arguments}, {"folder", command.folder.string()}, {"log", command.log.string()}};
}

Command command_of(const Json& json) {
  return {json.at("arguments").get<std::vector<std::string>>(), json.at("folder").get<std::string>(),
          json.at("log").get<std::string>()};
}

Json to_json(const Board& board) {
  return {{"name", board.name},       {"depth", to_string(board.depth)}, {"attack", board.attack},
          {"samples", board.samples}, {"link_port", board.link_port},    {"command", to_json(board.command)}};
}

Result<Board> board_of(const Json& json) {
  Board board;
  board.name = json.at("name").get<std::string>();
  TRY(board.depth, parse_depth(json.at("depth").get<std::string>()));
  board.attack = json.at("attack").get<std::string>();
  board.samples = json.at("samples").get<std::size_t>();
  board.link_port = json.at("link_port").get<std::uint16_t>();
  board.command = command_of(json.at("command"));
  return board;
}

Result<Simulation> simulation_of(const Json& json) {
  if (json.at("schema") != kSchema) return corrupt(std::string("its schema is not ") + kSchema);
  Simulation simulation;
  simulation.fleet = json.at("fleet").get<std::string>();
  simulation.data = json.at("data").get<std::string>();
  simulation.seed = json.at("seed").get<std::uint64_t>();
  simulation.broker_host = json.at("broker").at("host").get<std::string>();
  simulation.broker_port = json.at("broker").at("port").get<std::uint16_t>();
  for (const Json& service : json.at("services")) {
    simulation.services.push_back({service.at("name").get<std::string>(), command_of(service.at("command"))});
  }
  for (const Json& entry : json.at("boards")) {
    TRY(auto board, board_of(entry));
    simulation.boards.push_back(std::move(board));
  }
  return simulation;
}

Result<Json> read_json(const fs::path& file) {
  TRY(const std::string text, read_text_file(file, kMaxFileBytes));
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return corrupt(file.string() + " is not JSON; aflguard sim up makes it again");
  return json;
}

Status make_parent(const fs::path& file) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (error) return io_error("cannot make " + file.parent_path().string() + ": " + error.message());
  return {};
}

}  // namespace

const Service* Simulation::find_service(std::string_view name) const {
  const auto found = std::find_if(services.begin(), services.end(),
                                  [name](const Service& service) { return service.name == name; });
  return found == services.end() ? nullptr : &*found;
}

Result<Simulation> SimulationFolder::read() const {
  std::error_code error;
  if (!fs::exists(simulation_file(), error)) {
    return not_found("this fleet has no simulation (" + root_.string() +
                     " is not there); aflguard sim up starts one");
  }
  TRY(const Json json, read_json(simulation_file()));
  try {
    auto simulation = simulation_of(json);
    if (!simulation.ok()) return at(simulation_file().string(), simulation.error());
    return simulation;
  } catch (const Json::exception& problem) {
    return corrupt(simulation_file().string() + ": " + problem.what());
  }
}

Status SimulationFolder::write(const Simulation& simulation) const {
  Json json = {
      {"schema", kSchema}, {"fleet", simulation.fleet}, {"data", simulation.data}, {"seed", simulation.seed}};
  json["broker"] = {{"host", simulation.broker_host}, {"port", simulation.broker_port}};
  json["services"] = Json::array();
  for (const Service& service : simulation.services) {
    json["services"].push_back({{"name", service.name}, {"command", to_json(service.command)}});
  }
  json["boards"] = Json::array();
  for (const Board& board : simulation.boards) json["boards"].push_back(to_json(board));
  TRY_STATUS(make_parent(simulation_file()));
  return write_file_atomically(simulation_file(), json.dump(1) + "\n");
}

std::optional<ProcessNote> SimulationFolder::process(std::string_view name) const {
  const auto json = read_json(process_file(name));
  if (!json.ok()) return std::nullopt;
  try {
    return ProcessNote{{json->at("pid").get<pid_t>(), json->at("start_ticks").get<std::uint64_t>(),
                        json->at("boot").get<std::string>()},
                       json->at("unplugged").get<bool>()};
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

Status SimulationFolder::remember(std::string_view name, const ProcessNote& note) const {
  const Json json = {{"pid", note.mark.pid},
                     {"start_ticks", note.mark.start_ticks},
                     {"boot", note.mark.boot},
                     {"unplugged", note.unplugged}};
  TRY_STATUS(make_parent(process_file(name)));
  return write_file_atomically(process_file(name), json.dump() + "\n");
}

void SimulationFolder::forget(std::string_view name) const {
  std::error_code error;
  fs::remove(process_file(name), error);
}

LinkState SimulationFolder::read_link(std::string_view board_name) const {
  const auto text = read_text_file(link_state(board_name), kMaxFileBytes);
  if (!text.ok()) return {};
  const auto state = parse_link_state(*text);
  return state.ok() ? *state : LinkState{};
}

Status SimulationFolder::write_link(std::string_view board_name, const LinkState& state) const {
  TRY_STATUS(make_parent(link_state(board_name)));
  return write_file_atomically(link_state(board_name), to_text(state) + "\n");
}

}  // namespace aflguard::sim
