#include "firmware_sim/simulation/sim_up.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/progress.h"
#include "core/learning/model_package.h"
#include "core/system/atomic_file.h"
#include "core/system/child_group.h"
#include "core/system/interruption.h"
#include "core/system/programs.h"
#include "core/telemetry/program_facts.h"
#include "firmware_sim/links/link_relay.h"
#include "firmware_sim/local_fleet/dataset_export.h"
#include "firmware_sim/local_fleet/fleet_launcher.h"
#include "firmware_sim/simulation/sim_state.h"
#include "firmware_sim/simulation/simulation_control.h"
#include "fleet/folder/configuration.h"
#include "fleet/folder/toml_template.h"
#include "fleet/provisioning/device_key.h"
#include "fleet/provisioning/provisioning.h"
#include "fleet/provisioning_openssl/authority_files.h"

namespace aflguard::sim {
namespace fs = std::filesystem;
namespace {

using namespace sim;
using namespace std::chrono_literals;
using Kinds = std::map<Depth, std::unique_ptr<BoardKind>>;

constexpr auto kStartPollInterval = 100ms;
constexpr const char* kAnswerSeconds = "10";  // an update that a killed gateway lost goes again soon
constexpr const char* kBoardHost = "localhost";

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", value);
  return text.data();
}

/// Runs a simulation's services so that they outlive this command, and notes each before it starts.
class ServiceHost final : public ProgramHost {
 public:
  ServiceHost(const SimulationControl& control, Simulation& simulation)
      : control_(control), simulation_(simulation) {}

  [[nodiscard]] Status start(std::string_view name, const Command& command) override {
    simulation_.services.push_back({std::string(name), command});
    TRY_STATUS(control_.folder().write(simulation_));
    return control_.start(name, command);
  }
  [[nodiscard]] Status check_running(std::string_view name) override {
    if (control_.runs(name)) return {};
    const fs::path log = control_.folder().log(name);
    return internal_error("the " + std::string(name) + " has ended; its log " + log.string() +
                          " ends: " + last_lines(log, 3));
  }

 private:
  const SimulationControl& control_;
  Simulation& simulation_;
};

/// One start of a simulation, step by step.
class Start final {
 public:
  Start(const SimUpOptions& options, SimulationFolder folder, Interruption& interruption)
      : options_(options),
        folder_(std::move(folder)),
        fleet_{folder_.root().parent_path()},
        control_(folder_),
        interruption_(interruption),
        services_(control_, simulation_),
        launcher_(fleet_, folder_.logs(), services_,
                  {.timeout = options.timeout, .pause = [&interruption](std::chrono::milliseconds time) {
                     return interruption.wait(time);
                   }}) {}
  Start(const Start&) = delete;
  Start& operator=(const Start&) = delete;

  [[nodiscard]] const SimulationControl& control() const { return control_; }

  [[nodiscard]] Status run(std::vector<Board> boards, const Kinds& kinds,
                           const std::vector<Dataset>& samples) {
    TRY(const fleet::FleetSettings settings, fleet::read_fleet_settings(fleet_.settings()));
    simulation_.fleet = settings.name;
    simulation_.data = options_.samples.text();
    simulation_.seed = options_.samples.seed;
    simulation_.broker_host = settings.broker_host;
    simulation_.broker_port = settings.broker_port;
    simulation_.boards = std::move(boards);
    for (Board& board : simulation_.boards) {
      board.command.log = folder_.log(board.name);
      TRY_STATUS(folder_.write_link(board.name, {}));
    }
    TRY_STATUS(options_.with_gateway ? check_gateway(settings) : check_broker(settings));
    TRY_STATUS(enrol());
    // Now: it then knows all boards when it starts.
    if (options_.with_gateway) TRY_STATUS(start_gateway());
    TRY_STATUS(start_links());
    TRY_STATUS(make_boards(settings, kinds, samples));
    TRY_STATUS(folder_.write(simulation_));
    for (const Board& board : simulation_.boards) TRY_STATUS(control_.start(board.name, board.command));
    return {};
  }

  /// Until all are connected, except for those that were unplugged meanwhile. The folder need not be
  /// locked.
  [[nodiscard]] Status wait_for_boards() {
    StderrProgress progress;
    const auto deadline = std::chrono::steady_clock::now() + options_.timeout;
    while (true) {
      std::size_t connected = 0;
      const Board* missing = nullptr;
      for (const Board& board : simulation_.boards) {
        TRY(const BoardLog log, read_board_log(board.command.log));
        if (log.connected || was_unplugged(board)) {
          ++connected;
        } else {
          missing = &board;
        }
        if (!control_.runs(board.name) && !was_unplugged(board))
          return internal_error("board " + board.name + " has ended; its log " + board.command.log.string() +
                                " ends: " + last_lines(board.command.log, 3));
      }
      // Asked last: who ends everything marks the links before the boards.
      if (const auto links = folder_.process(kLinksService); !links || links->unplugged)
        return unavailable("another command has ended the simulation while its boards started");
      progress.show("boards connected", connected, simulation_.boards.size());
      if (missing == nullptr) return {};
      if (std::chrono::steady_clock::now() >= deadline) {
        progress.finish();
        return unavailable("board " + missing->name + " is not connected after " +
                           std::to_string(options_.timeout.count()) + " s; its log " +
                           missing->command.log.string() + " ends: " + last_lines(missing->command.log, 3));
      }
      if (interruption_.wait(kStartPollInterval)) return interrupted();
    }
  }

  /// It was told to end, since it was started.
  [[nodiscard]] bool was_unplugged(const Board& board) const {
    const auto note = folder_.process(board.name);
    return !note || note->unplugged;
  }

  /// Ends what was started, unless what runs now was started by another program since.
  void give_up() const {
    const auto lock = folder_.lock();
    const auto now = folder_.read();
    if (lock.ok() && now.ok() && *now == simulation_) (void)control_.stop_everything();
  }

 private:
  [[nodiscard]] static Status check_broker(const fleet::FleetSettings& settings) {
    if (answers(settings.broker_host, settings.broker_port)) return {};
    return unavailable("no broker answers at " + settings.broker_host + ":" +
                       std::to_string(settings.broker_port) +
                       "; start the fleet's broker and gateway, or let --with-gateway do it");
  }

  /// Before anything is changed: can broker and gateway be started?
  [[nodiscard]] Status check_gateway(const fleet::FleetSettings& settings) const {
    if (answers(settings.broker_host, settings.broker_port)) {
      return invalid_input("a broker answers at " + settings.broker_host + ":" +
                           std::to_string(settings.broker_port) +
                           " already; leave --with-gateway out, or stop that one");
    }
    return launcher_.check_gateway();
  }

  [[nodiscard]] Status start_gateway() {
    TRY_STATUS(launcher_.start_broker());
    return launcher_.start_gateway();
  }

  [[nodiscard]] Status start_links() {
    std::error_code error;
    fs::remove(links_file(folder_), error);
    TRY(const fs::path self, program_beside_us("aflguard"));
    TRY_STATUS(launcher_.start_ready(kLinksService,
                                     {self.string(), "sim", "links", "--fleet", fleet_.root.string()}));
    TRY(const std::string text, read_text_file(links_file(folder_)));
    std::istringstream ports(text);
    for (Board& board : simulation_.boards) ports >> board.link_port;
    if (!ports) return internal_error(links_file(folder_).string() + " has too few ports");
    return {};
  }

  [[nodiscard]] Status enrol() {
    TRY(auto fleet, fleet::Fleet::open(fleet_.root));
    TRY(auto authority, fleet::load_authority(fleet.folder()));
    const SystemClock clock;
    for (const Board& board : simulation_.boards) {
      TRY(const auto known, fleet.book().find(board.name));
      if (!known) {
        TRY_STATUS(fleet.add_device({board.name, {}, {}}, authority, clock));
        continue;
      }
      if (known->revoked || !fleet::has_key(fleet_, board.name)) {
        return invalid_input("the fleet's device '" + board.name + "' " +
                             (known->revoked ? "is revoked" : "has its key elsewhere") +
                             "; a simulation needs that name: use a fleet made for simulations");
      }
    }
    return {};
  }

  [[nodiscard]] Status make_boards(const fleet::FleetSettings& settings, const Kinds& kinds,
                                   const std::vector<Dataset>& samples) {
    StderrProgress progress;
    for (std::size_t i = 0; i < simulation_.boards.size(); ++i) {
      if (interruption_.requested()) return interrupted();
      progress.show("making boards", i, simulation_.boards.size());
      Board& board = simulation_.boards[i];
      const BoardKind& kind = *kinds.at(board.depth);
      const BoardFolder place{folder_.board(board.name)};
      board.samples = samples[i].size();
      TRY_STATUS(fill_card(settings, board, kind, place, samples[i], i));
      auto command = kind.build(board, place);
      // Programs that make boards get Ctrl-C, too.
      if (!command.ok()) return interruption_.requested() ? interrupted() : command.error();
      board.command.arguments = std::move(*command);
      board.command.folder = place.root;
    }
    progress.finish();
    return {};
  }

  /// What an operator would put on the board.
  [[nodiscard]] Status fill_card(const fleet::FleetSettings& settings, const Board& board,
                                 const BoardKind& kind, const BoardFolder& place, const Dataset& samples,
                                 std::size_t index) const {
    TRY(auto card, StagedDirectory::create(place.card(), /*replace=*/true));
    std::error_code error;
    for (const char* file : {"device.crt", "device.key", "ca.crt", "gateway.pem"}) {
      fs::copy_file(fleet_.device(board.name) / file, card.path() / file, error);
      if (error)
        return io_error("cannot copy " + (fleet_.device(board.name) / file).string() + ": " +
                        error.message());
    }
    // A fleet from before there were release keys has none.
    const fs::path release = fleet_.device(board.name) / "release.pem";
    if (fs::exists(release, error)) fs::copy_file(release, card.path() / "release.pem", error);
    if (error) return io_error("cannot copy " + release.string() + ": " + error.message());
    fs::copy(fleet_.model(), card.path() / "model", fs::copy_options::recursive, error);
    if (error) return io_error("cannot copy " + fleet_.model().string() + ": " + error.message());
    TRY(const std::vector<std::string> lines, export_dataset(samples, card.path(), "samples", {}));
    const std::string state = kind.state_folder(place);
    fleet::TomlTemplate client(fleet::client_configuration(settings, board.name));
    client.set("broker", "host", fleet::toml_text(kBoardHost))
        .set("broker", "port", std::to_string(board.link_port))
        .set("broker", "answer_seconds", kAnswerSeconds)
        .replace_section("data", lines)
        .set("state", "folder", fleet::toml_text(state))
        .set("training", "interval_seconds", number(options_.interval_seconds))
        .set("training", "seed", std::to_string(options_.samples.seed * 1000 + index));
    if (options_.export_model) client.set("model", "export", fleet::toml_text(state + "/current.onnx"));
    TRY_STATUS(write_file_atomically(card.path() / "client.toml", client.text()));
    return card.commit();
  }

 public:
  [[nodiscard]] static fs::path links_file(const SimulationFolder& folder) { return folder.root() / "links"; }

 private:
  const SimUpOptions& options_;
  SimulationFolder folder_;
  fleet::FleetFolder fleet_;
  SimulationControl control_;
  Interruption& interruption_;
  Simulation simulation_;
  ServiceHost services_;
  FleetLauncher launcher_;
};

Result<Kinds> kinds_for(const std::vector<Board>& boards, const BoardPlaces& places) {
  Kinds kinds;
  for (const Board& board : boards) {
    if (!kinds.contains(board.depth)) {
      TRY(auto kind, board_kind(board.depth, places));
      kinds.emplace(board.depth, std::move(kind));
    }
    TRY_STATUS(kinds.at(board.depth)->check_machine(board));
  }
  return kinds;
}

/// A fleet to simulate boards of: the one that is there, or a new one where none is.
Status provide_fleet(const SimUpOptions& options, std::size_t boards) {
  std::error_code error;
  const fs::path root = fs::absolute(options.fleet, error).lexically_normal();
  const bool empty = !fs::exists(root, error) || (fs::is_directory(root, error) && fs::is_empty(root, error));
  if (!empty || !options.with_gateway) return {};
  if (!options.samples.own.empty()) {
    return invalid_input(
        options.fleet +
        " is not a fleet yet; with --data, make one first: aflguard fleet init, then its model and "
        "gateway.toml");
  }
  std::fprintf(stderr, "making a fleet in %s that learns %s\n", root.c_str(),
               options.samples.dataset.c_str());
  return make_learning_fleet(root, options.samples.dataset, boards, options.samples.seed);
}

/// Starts everything while no other program changes anything in the folder. What it started ends when it
/// fails.
Status set_up(const SimUpOptions& options, const SimulationFolder& folder, std::vector<Board> boards,
              const Kinds& kinds, Interruption& interruption, Start& start) {
  TRY(const auto lock, folder.lock());
  if (const auto running = start.control().running(); !running.empty()) {
    return invalid_input("a simulation of this fleet runs already (" + std::to_string(running.size()) +
                         " programs, " + running.front() +
                         " among them); aflguard sim status shows it, aflguard sim down ends it");
  }
  const fleet::FleetFolder fleet{folder.root().parent_path()};
  TRY(const ModelPackage package, read_model_package(fleet.model()));
  TRY(const auto samples, deal_samples(options.samples, boards.size(), package.description));
  // Until here Ctrl-C simply ends this program.
  TRY_STATUS(interruption.install());
  Status started = start.run(std::move(boards), kinds, samples);
  if (!started.ok()) (void)start.control().stop_everything();
  return started;
}

}  // namespace

Status sim_up(const SimUpOptions& options) {
  TRY(std::vector<Board> boards, plan_boards(options.order));
  TRY(const Kinds kinds, kinds_for(boards, options.places));
  TRY_STATUS(provide_fleet(options, boards.size()));
  TRY(const SimulationFolder folder, simulation_of(options.fleet));
  Interruption interruption;
  Start start(options, folder, interruption);
  TRY_STATUS(set_up(options, folder, std::move(boards), kinds, interruption, start));
  // The folder is free: boards may need minutes, and one may be unplugged, or all be ended.
  if (Status connected = start.wait_for_boards(); !connected.ok()) {
    start.give_up();
    return connected;
  }
  TRY(const SimulationState state, look_at(folder));
  if (options.json) {
    std::printf("%s\n", to_json(state, folder).dump(2).c_str());
  } else {
    print(state);
    std::printf("It goes on until: aflguard sim down --fleet %s\n", options.fleet.c_str());
  }
  return {};
}

Status run_links(const std::string& fleet) {
  TRY(const SimulationFolder folder, simulation_of(fleet));
  TRY(const Simulation simulation, folder.read());
  std::vector<RelayPort> ports;
  for (const Board& board : simulation.boards)
    ports.push_back({board.link_port, folder.link_state(board.name)});
  Interruption interruption;
  TRY_STATUS(interruption.install());
  TRY(auto relay, LinkRelay::create(std::move(ports), simulation.broker_host, simulation.broker_port));
  std::string text;
  for (const std::uint16_t port : relay.ports()) text += std::to_string(port) + "\n";
  TRY_STATUS(write_file_atomically(Start::links_file(folder), text));
  StderrLog log;
  log.info("links are up");
  log.fact(to_line(ReadyFact{simulation.fleet, std::string(kLinksService)}));
  relay.run([&interruption] { return interruption.requested(); });
  return {};
}

}  // namespace aflguard::sim
