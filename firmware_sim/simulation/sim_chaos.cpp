#include "firmware_sim/simulation/sim_chaos.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "core/system/child_group.h"
#include "core/system/interruption.h"
#include "firmware_sim/simulation/fault_script.h"
#include "firmware_sim/simulation/sim_place.h"
#include "firmware_sim/simulation/sim_state.h"
#include "firmware_sim/simulation/simulation_control.h"

namespace aflguard::sim {
namespace {

using namespace sim;
using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr auto kLook = 200ms;

Error interrupted() {
  return unavailable("interrupted; everything was plugged in again, and the simulation goes on");
}

/// The beginning or the end of a fault.
struct Moment {
  std::chrono::milliseconds at{};
  bool begins = true;
  Fault fault;
};

std::vector<Moment> moments_of(const std::vector<Fault>& script) {
  std::vector<Moment> moments;
  for (const Fault& fault : script) {
    moments.push_back({fault.at, true, fault});
    moments.push_back({fault.at + fault.duration, false, fault});
  }
  std::stable_sort(moments.begin(), moments.end(),
                   [](const Moment& a, const Moment& b) { return a.at < b.at; });
  return moments;
}

bool of_the_machine(const Fault& fault) {
  return fault.kind == FaultKind::kKillGateway || fault.kind == FaultKind::kKillBroker;
}

void tell(const Moment& moment) {
  std::fprintf(stderr, "%7.1f s  %s %s", std::chrono::duration<double>(moment.at).count(),
               moment.begins ? std::string(to_string(moment.fault.kind)).c_str() : "over:",
               moment.fault.target.c_str());
  if (moment.begins) {
    std::fprintf(stderr, " for %.1f s", std::chrono::duration<double>(moment.fault.duration).count());
    if (moment.fault.kind == FaultKind::kSlow)
      std::fprintf(stderr, " at %llu bytes/s",
                   static_cast<unsigned long long>(moment.fault.bytes_per_second));
  }
  std::fprintf(stderr, "\n");
}

/// Who has got how many verdicts.
Result<std::map<std::string, std::size_t>> verdicts_of(const std::vector<Board>& boards) {
  std::map<std::string, std::size_t> counts;
  for (const Board& board : boards) {
    TRY(const BoardLog log, read_board_log(board.command.log));
    counts[board.name] = log.verdicts.size();
  }
  return counts;
}

/// Until each of the boards has `more` verdicts than now.
Status wait_for_verdicts(const SimulationControl& control, const std::vector<Board>& boards, std::size_t more,
                         std::chrono::seconds timeout, Interruption& interruption) {
  TRY(const auto before, verdicts_of(boards));
  const auto deadline = SteadyClock::now() + timeout;
  while (true) {
    TRY(const auto now, verdicts_of(boards));
    const auto waiting = std::find_if(boards.begin(), boards.end(), [&](const Board& board) {
      return now.at(board.name) < before.at(board.name) + more;
    });
    if (waiting == boards.end()) return {};
    const std::string ends =
        "; its log " + waiting->command.log.string() + " ends: " + last_lines(waiting->command.log, 3);
    if (!control.runs(waiting->name))
      return internal_error("board " + waiting->name + " does not run" + ends);
    if (SteadyClock::now() >= deadline) {
      return unavailable("board " + waiting->name + " got " +
                         std::to_string(now.at(waiting->name) - before.at(waiting->name)) + " of " +
                         std::to_string(more) + " verdicts in " + std::to_string(timeout.count()) + " s" +
                         ends);
    }
    if (interruption.wait(kLook)) return unavailable("interrupted; the simulation goes on");
  }
}

std::vector<Board> honest(const std::vector<Board>& boards) {
  std::vector<Board> found;
  std::copy_if(boards.begin(), boards.end(), std::back_inserter(found),
               [](const Board& board) { return board.honest(); });
  return found;
}

class Chaos final {
 public:
  Chaos(const SimulationFolder& folder, Simulation simulation, Interruption& interruption)
      : control_(folder), simulation_(std::move(simulation)), interruption_(interruption) {}

  [[nodiscard]] Status play(const std::vector<Moment>& moments) {
    const auto start = SteadyClock::now();
    for (const Moment& moment : moments) {
      while (SteadyClock::now() < start + moment.at) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(start + moment.at - SteadyClock::now());
        if (interruption_.wait(std::min<std::chrono::milliseconds>(left, kLook))) return interrupted();
      }
      TRY(const auto lock, control_.folder().lock());
      TRY_STATUS(check_survivors());
      tell(moment);
      TRY_STATUS(moment.begins ? begin(moment.fault) : end(moment.fault));
    }
    return {};
  }

  /// Whatever happened: power and network for all.
  [[nodiscard]] Status repair() {
    TRY(const auto lock, control_.folder().lock());
    for (const Service& service : simulation_.services)
      TRY_STATUS(control_.start(service.name, service.command));
    for (const Board& board : simulation_.boards) TRY_STATUS(control_.plug(board));
    killed_.clear();
    return {};
  }

  [[nodiscard]] const SimulationControl& control() const { return control_; }

 private:
  [[nodiscard]] Status begin(const Fault& fault) {
    if (of_the_machine(fault) || fault.kind == FaultKind::kUnplug) {
      killed_.push_back(fault.target);
      return control_.kill(fault.target);
    }
    return control_.folder().write_link(fault.target,
                                        {fault.kind == FaultKind::kCut, fault.bytes_per_second});
  }

  [[nodiscard]] Status end(const Fault& fault) {
    std::erase(killed_, fault.target);
    if (of_the_machine(fault))
      return control_.start(fault.target, simulation_.find_service(fault.target)->command);
    return control_.plug(*find_board(simulation_.boards, fault.target));
  }

  /// Nothing ends but what was killed. (The gateway may take itself away while its broker is gone: no.)
  [[nodiscard]] Status check_survivors() {
    const auto check_one = [this](const std::string& name, const std::filesystem::path& log) -> Status {
      if (std::find(killed_.begin(), killed_.end(), name) != killed_.end() || control_.runs(name)) return {};
      return internal_error(name + " has ended though it was not killed; its log " + log.string() +
                            " ends: " + last_lines(log, 3));
    };
    for (const Service& service : simulation_.services)
      TRY_STATUS(check_one(service.name, service.command.log));
    for (const Board& board : simulation_.boards) TRY_STATUS(check_one(board.name, board.command.log));
    return {};
  }

  SimulationControl control_;
  Simulation simulation_;
  Interruption& interruption_;
  std::vector<std::string> killed_;
};

Json fault_counts(const std::vector<Fault>& script) {
  Json counts = Json::object();
  for (const FaultKind kind : {FaultKind::kUnplug, FaultKind::kCut, FaultKind::kSlow, FaultKind::kKillGateway,
                               FaultKind::kKillBroker}) {
    counts[std::string(to_string(kind))] = std::count_if(
        script.begin(), script.end(), [kind](const Fault& fault) { return fault.kind == kind; });
  }
  return counts;
}

void print_outcome(const SimChaosOptions& options, const std::vector<Fault>& script,
                   const LedgerReport& report) {
  if (options.json) {
    Json json = {{"schema", "aflguard-sim-chaos-1"},
                 {"seed", options.seed},
                 {"minutes", options.minutes},
                 {"faults", fault_counts(script)}};
    json["ledger"] = to_json(report);
    std::printf("%s\n", json.dump(2).c_str());
    return;
  }
  std::printf("seed %llu: %zu faults; every honest board goes on\n",
              static_cast<unsigned long long>(options.seed), script.size());
  std::printf(
      "%zu updates judged, %zu acknowledged: %zu lost, %zu judged twice, %zu told otherwise, %zu gaps\n",
      report.judged, report.acknowledged, report.lost, report.repeated, report.contradicted, report.gaps);
}

}  // namespace

Status sim_chaos(const SimChaosOptions& options) {
  TRY(const SimulationFolder folder, simulation_of(options.fleet));
  TRY(const Simulation simulation, folder.read());
  const SimulationControl control(folder);
  for (const Board& board : simulation.boards) {
    if (control.runs(board.name)) continue;
    return invalid_input(
        "board " + board.name +
        " does not run; chaos begins with everything plugged in (aflguard sim up, sim plug)");
  }
  TRY([[maybe_unused]] const auto readable, open_history(folder));
  ScriptSettings settings{
      options.seed, std::chrono::milliseconds(static_cast<std::int64_t>(options.minutes * 60e3)), {}, false};
  for (const Board& board : simulation.boards) settings.boards.push_back(board.name);
  settings.gateway = simulation.find_service(kGatewayService) != nullptr;
  const std::vector<Fault> script = make_fault_script(settings);
  std::fprintf(stderr, "chaos: --seed %llu --minutes %g repeats these %zu faults\n",
               static_cast<unsigned long long>(options.seed), options.minutes, script.size());
  Interruption interruption;
  TRY_STATUS(interruption.install());
  Chaos chaos(folder, simulation, interruption);
  Status played = chaos.play(moments_of(script));
  Status repaired = chaos.repair();
  if (!played.ok()) return played;
  if (!repaired.ok()) return repaired;
  std::fprintf(stderr, "chaos: over; waiting for every board to go on\n");
  TRY_STATUS(wait_for_verdicts(chaos.control(), honest(simulation.boards), 1,
                               std::chrono::seconds(options.timeout_seconds), interruption));
  TRY(const LedgerReport report, verify(folder));
  print_outcome(options, script, report);
  if (report.holds()) return {};
  return corrupt("the boards and the gateway disagree: " + report.problems.front() +
                 (report.problems.size() > 1
                      ? " (and " + std::to_string(report.problems.size() - 1) + " more; --json lists them)"
                      : ""));
}

Status sim_wait(const SimWaitOptions& options) {
  TRY(const SimulationFolder folder, simulation_of(options.fleet));
  TRY(const Simulation simulation, folder.read());
  const SimulationControl control(folder);
  std::vector<Board> boards;
  if (!options.board.empty()) {
    TRY(const Board* board, require_board(simulation, options.board));
    boards.push_back(*board);
  } else {
    for (const Board& board : simulation.boards)
      if (control.runs(board.name)) boards.push_back(board);
  }
  if (boards.empty()) return invalid_input("no board runs; aflguard sim up starts them");
  Interruption interruption;
  TRY_STATUS(interruption.install());
  return wait_for_verdicts(control, boards, options.verdicts, std::chrono::seconds(options.timeout_seconds),
                           interruption);
}

}  // namespace aflguard::sim
