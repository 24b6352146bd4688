#include "tools/aflguard/verbs/sim_verbs.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "firmware_sim/byzantine_client/attack.h"
#include "firmware_sim/simulation/sim_chaos.h"
#include "firmware_sim/simulation/sim_place.h"
#include "firmware_sim/simulation/sim_state.h"
#include "firmware_sim/simulation/sim_up.h"
#include "firmware_sim/simulation/simulation_control.h"
#include "tools/aflguard/table_options.h"
#include "tools/aflguard/verbs/verb_group.h"

namespace aflguard::cli {
namespace {

using namespace sim;

struct Options {
  sim::SimUpOptions up;
  TableOptions table;
  sim::SimChaosOptions chaos;
  sim::SimWaitOptions wait;
  std::string fleet;
  std::vector<std::string> boards;
  std::uint64_t bytes_per_second = 0;
  std::uint64_t timeout = 600;
  bool json = false;
};
using Verbs = VerbGroup<Options>;

Status status(const Options& options) {
  TRY(const sim::SimulationFolder folder, sim::simulation_of(options.fleet));
  const auto state = sim::look_at(folder);
  if (!state.ok() && state.error().kind == ErrorKind::kNotFound && options.json) {
    std::printf("{\"schema\": \"aflguard-sim-1\", \"running\": false, \"services\": [], \"boards\": []}\n");
    return {};
  }
  if (!state.ok()) return state.error();
  if (options.json) {
    std::printf("%s\n", sim::to_json(*state, folder).dump(2).c_str());
  } else {
    sim::print(*state);
    if (!state->running()) std::printf("nothing runs; aflguard sim up starts it again\n");
  }
  return {};
}

Status down(const Options& options) {
  TRY(const sim::SimulationFolder folder, sim::simulation_of(options.fleet));
  TRY(const auto lock, folder.lock());
  const sim::SimulationControl control(folder);
  const std::size_t running = control.running().size();
  TRY_STATUS(control.stop_everything());
  if (options.json) {
    std::printf("{\"schema\": \"aflguard-sim-down-1\", \"ended\": %zu}\n", running);
  } else if (running == 0) {
    std::printf("nothing ran\n");
  } else {
    std::printf("ended %zu programs; boards keep their state for the next aflguard sim up\n", running);
  }
  return {};
}

/// What is done to each of the boards named. `services`: what the simulation needs beside them is started
/// where it has ended.
Status for_each_board(const Options& options, const char* done, bool services,
                      const std::function<Status(const sim::SimulationControl&, const sim::Board&)>& act) {
  TRY(const sim::SimulationFolder folder, sim::simulation_of(options.fleet));
  TRY(const auto lock, folder.lock());
  TRY(const sim::Simulation simulation, folder.read());
  for (const std::string& name : options.boards) {
    if (const auto known = sim::require_board(simulation, name); !known.ok()) return known.error();
  }
  const sim::SimulationControl control(folder);
  if (services) {
    for (const sim::Service& service : simulation.services)
      TRY_STATUS(control.start(service.name, service.command));
  }
  for (const std::string& name : options.boards) {
    const sim::Board& board = *sim::find_board(simulation.boards, name);
    TRY_STATUS(act(control, board));
    std::printf("%s: %s\n", name.c_str(), done);
  }
  return {};
}

Status plug(const Options& options) {
  return for_each_board(
      options, "plugged in", /*services=*/true,
      [](const sim::SimulationControl& control, const sim::Board& board) { return control.plug(board); });
}

Status unplug(const Options& options) {
  return for_each_board(
      options, "unplugged", /*services=*/false,
      [](const sim::SimulationControl& control, const sim::Board& board) { return control.unplug(board); });
}

Status starve(const Options& options) {
  const sim::LinkState state{options.bytes_per_second == 0, options.bytes_per_second};
  const std::string done =
      state.cut ? "its link is cut" : "its link passes " + sim::to_text(state).substr(5) + " bytes/s";
  return for_each_board(options, done.c_str(), /*services=*/false,
                        [&](const sim::SimulationControl& control, const sim::Board& board) -> Status {
                          if (!control.runs(board.name))
                            return invalid_input("board " + board.name + " does not run; aflguard sim plug " +
                                                 board.name + " starts it");
                          return control.folder().write_link(board.name, state);
                        });
}

Status verify_verb(const Options& options) {
  TRY(const sim::SimulationFolder folder, sim::simulation_of(options.fleet));
  TRY(const sim::LedgerReport report, sim::verify(folder));
  if (options.json) {
    nlohmann::ordered_json json = {{"schema", "aflguard-sim-verify-1"}};
    json.update(sim::to_json(report));
    std::printf("%s\n", json.dump(2).c_str());
  } else {
    std::printf(
        "%zu updates judged, %zu acknowledged: %zu lost, %zu judged twice, %zu told otherwise, %zu gaps\n",
        report.judged, report.acknowledged, report.lost, report.repeated, report.contradicted, report.gaps);
  }
  if (report.holds()) return {};
  return corrupt("the boards and the gateway disagree: " + report.problems.front());
}

void add_up(const Verbs& verbs) {
  Options& options = verbs.options();
  sim::SimUpOptions& up = options.up;
  CLI::App* verb = verbs.add({"up", "Start simulated boards, each with its own identity and samples"},
                             up.fleet, [](const Options& given) -> Status {
                               sim::SimUpOptions wanted = given.up;
                               wanted.timeout = std::chrono::seconds(given.timeout);
                               TRY(wanted.samples.table, table_files("", given.table));
                               return sim::sim_up(wanted);
                             });
  verb->add_option("--boards", up.order.boards, "How many")
      ->check(CLI::Range(1, static_cast<int>(sim::kMaxBoards)));
  verb->add_option(
          "--depth", up.order.depth,
          "user: the arm64 client under qemu-user; board: a virtual machine with its own kernel, disks and\n"
          "network; image: one that boots the SD image; native: this machine's own client; or numbers of\n"
          "each, as in board=2,user=4")
      ->capture_default_str();
  verb->add_option("--malicious", up.order.malicious, "How many of them lie: the last ones")
      ->check(CLI::Range(0, static_cast<int>(sim::kMaxBoards)))
      ->capture_default_str();
  verb->add_option("--attack", up.order.attack, "What those send: " + sim::attack_names())
      ->capture_default_str();
  auto* dataset =
      verb->add_option("--dataset", up.samples.dataset,
                       "Whose training samples are dealt out: mnist, fashion-mnist, synthetic, ...")
          ->capture_default_str();
  verb->add_option(
          "--data", up.samples.own,
          "Your own samples instead: a CSV file, or a folder with samples.csv, features.npy and labels.npy,\n"
          "or two IDX files")
      ->excludes(dataset);
  add_table_options(*verb, options.table);
  verb->add_flag(
      "--export", up.export_model,
      "Every board keeps the newest model as current.onnx in its state folder, for aflguard-client predict");
  verb->add_option("--predict", up.predict,
                   "Every board predicts these rows with each new model; its log has the answers")
      ->check(CLI::ExistingFile);
  verb->add_flag(
      "--with-gateway", up.with_gateway,
      "Start the fleet's broker and gateway, too; where there is no fleet, make one for the data set");
  verb->add_option("--seed", up.samples.seed, "Of the dealing out, and of the boards' choice of samples")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  verb->add_option("--interval", up.interval_seconds, "Seconds between two updates of a board, at least")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
  verb->add_option("--arm64", up.places.arm64,
                   "Folder with the arm64 programs; default: what ./run arm64 built")
      ->envname("AFLGUARD_ARM64");
  verb->add_option("--kit", up.places.kit, "What virtual boards boot from; default: what ./run boards made")
      ->envname("AFLGUARD_BOARD_KIT");
  verb->add_option("--image", up.places.image,
                   "The card image that boards of depth image boot; default: what ./run image made")
      ->envname("AFLGUARD_BOARD_IMAGE");
  verb->add_option("--patience", options.timeout, "Seconds until all must be connected")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  verb->add_flag("--json", up.json, "Print one JSON document, as sim status does");
  // What no simulation can have is a mistake of the command line.
  verb->parse_complete_callback([&up] {
    if (const auto plan = sim::plan_boards(up.order); !plan.ok())
      throw CLI::ValidationError(plan.error().message);
    const Status attack = up.order.malicious > 0 ? sim::check_attack(up.order.attack) : Status();
    if (!attack.ok()) throw CLI::ValidationError(attack.error().message);
  });
  verb->footer(
      "Returns when all boards are connected; they go on until aflguard sim down.\n\n"
      "Examples:\n"
      "  aflguard sim up --fleet play --boards 6 --malicious 1 --with-gateway    a new fleet and six boards\n"
      "  aflguard sim up --fleet greenhouse --depth board=2,user=4 --data samples.csv");
}

void add_board_verbs(const Verbs& verbs) {
  Options& options = verbs.options();
  const auto add = [&](const char* name, const char* about, Status (*run)(const Options&),
                       const char* example) {
    CLI::App* verb = verbs.add({name, about}, run);
    verb->add_option("boards", options.boards, "Names of boards, e.g. sim-02")->required();
    verb->footer(std::string("Example:\n  aflguard sim ") + example + " --fleet play");
    return verb;
  };
  add("unplug", "Kill boards, as if their power had gone", unplug, "unplug sim-02");
  add("plug", "Give boards their power and their network back", plug, "plug sim-02");
  add("starve", "Cut boards off from the network, or slow it down", starve,
      "starve sim-02 --bytes-per-second 4000")
      ->add_option("--bytes-per-second", options.bytes_per_second,
                   "Let so much pass, in both directions together; without it nothing passes")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
}

void add_chaos(const Verbs& verbs) {
  sim::SimChaosOptions& chaos = verbs.options().chaos;
  CLI::App* verb = verbs.add(
      {"chaos", "Break boards, links, gateway and broker by a seed, and prove that nothing is lost"},
      chaos.fleet, [](const Options& given) { return sim::sim_chaos(given.chaos); });
  verb->add_option("--seed", chaos.seed, "Of the fault script: the same seed gives the same script")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  verb->add_option("--minutes", chaos.minutes, "How long things break")
      ->check(CLI::Range(0.05, 10080.0))
      ->capture_default_str();
  verb->add_option("--patience", chaos.timeout_seconds, "Seconds in which every board must go on afterwards")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  verb->add_flag("--json", chaos.json, "Print one JSON document at the end");
  verb->footer(
      "Gateway and broker are killed only where sim up started them (--with-gateway).\n"
      "Exit code 1 when an acknowledged update is lost, one was judged twice, a version or number is "
      "missing, a\n"
      "program ended by itself, or a board does not go on.\n\n"
      "Example:\n  aflguard sim chaos --fleet play --seed 7 --minutes 5");
}

}  // namespace

void add_sim_verbs(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* sim = app.add_subcommand("sim", "Simulated boards: start, watch, break and end them");
  sim->require_subcommand(1);
  sim->footer(
      "docs/simulate.md has the whole story.\n\nExample:\n  aflguard sim up --fleet play --boards 6 "
      "--with-gateway");
  const Verbs verbs(*sim, options, action);
  add_up(verbs);
  CLI::App* state = verbs.add({"status", "How every board does"}, status);
  state->add_flag("--json", options->json, "Print one JSON document");
  state->footer("Example:\n  aflguard sim status --fleet play --json");
  CLI::App* waiting = verbs.add({"wait", "Wait until boards have got further verdicts"}, options->wait.fleet,
                                [](const Options& given) { return sim::sim_wait(given.wait); });
  waiting->add_option("board", options->wait.board, "This board alone; otherwise every one that runs");
  waiting->add_option("--verdicts", options->wait.verdicts, "So many more, each")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  waiting->add_option("--patience", options->wait.timeout_seconds, "Give up after so many seconds")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  waiting->footer("Example:\n  aflguard sim wait --fleet play --verdicts 10");
  add_board_verbs(verbs);
  add_chaos(verbs);
  CLI::App* proof =
      verbs.add({"verify", "Hold what the boards know against the gateway's store"}, verify_verb);
  proof->add_flag("--json", options->json, "Print one JSON document");
  proof->footer("Example:\n  aflguard sim verify --fleet play");
  CLI::App* end = verbs.add({"down", "End everything that sim up started"}, down);
  end->add_flag("--json", options->json, "Print one JSON document");
  end->footer("Example:\n  aflguard sim down --fleet play");
  // What sim up starts by itself.
  verbs
      .add({"links", "Carry the boards' bytes"},
           [](const Options& given) { return sim::run_links(given.fleet); })
      ->group("");
}

}  // namespace aflguard::cli
