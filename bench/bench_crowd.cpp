#include "bench/bench_crowd.h"

#include <algorithm>
#include <sstream>

#include "bench/bench_publishers.h"
#include "bench/clients/client_crowd.h"

namespace aflguard::bench {
namespace {

constexpr double kLongestWaitMs = 5000;
constexpr double kBusyMachine = 0.1;

/// As bench/peer/crowd.h says it.
struct Outcome {
  std::size_t devices = 0;
  std::size_t turns = 0;
  std::size_t without = 0;
  double seconds = 0;
  double median_turns = 0;
  double slowest_tenth_turns = 0;
  double median_ms = 0;
  double longest_ms = 0;
  double above_5_s = 0;
  std::size_t refusals = 0;
  std::size_t silent = 0;
  double idle = 0;  ///< share of this machine's cores

  /// Nothing was left to serve faster with.
  [[nodiscard]] bool at_the_limit() const { return idle < kBusyMachine || refusals > 0; }
};

class CrowdRun final {
 public:
  static Result<CrowdRun> create(const BenchCrowdOptions& options) {
    std::size_t most = std::max({options.burst, options.stream, options.honest});
    for (const std::size_t devices : options.busy) most = std::max(most, devices);
    TRY(auto fleet, BenchFleet::create(2, "127.0.0.1", options.model));
    TRY_STATUS(fleet->enrol_crowd(most));
    BenchGatewaySettings settings;
    if (options.memory_bytes > 0) {
      settings.limits = "memory_bytes = " + std::to_string(options.memory_bytes) + "\n";
    }
    TRY_STATUS(fleet->start_gateway(settings));
    TRY(LineProcess crowd, fleet->start_crowd());
    return CrowdRun(std::move(fleet), std::move(crowd));
  }

  [[nodiscard]] Result<Outcome> run(const std::string& verb, std::size_t devices, double figure) {
    std::ostringstream command;
    command << verb << ' ' << devices << ' ' << figure;
    const IdleShare idle;
    TRY_STATUS(crowd_.send(command.str()));
    TRY(auto words, expect_answer(crowd_, "done"));
    Outcome outcome;
    outcome.idle = idle.value();
    words >> outcome.devices >> outcome.turns >> outcome.without >> outcome.seconds >> outcome.median_turns >>
        outcome.slowest_tenth_turns >> outcome.median_ms >> outcome.longest_ms >> outcome.above_5_s >>
        outcome.refusals >> outcome.silent;
    if (!words) return internal_error("the crowd said something else");
    return outcome;
  }
  [[nodiscard]] BenchFleet& fleet() { return *fleet_; }

 private:
  CrowdRun(std::unique_ptr<BenchFleet> fleet, LineProcess crowd)
      : fleet_(std::move(fleet)), crowd_(std::move(crowd)) {}
  std::unique_ptr<BenchFleet> fleet_;
  LineProcess crowd_;
};

nlohmann::ordered_json conditions_of(const Outcome& outcome) {
  return {{"devices", outcome.devices},
          {"turns", outcome.turns},
          {"devices_without_a_verdict", outcome.without},
          {"seconds", outcome.seconds},
          {"verdicts_per_second", static_cast<double>(outcome.turns) / std::max(outcome.seconds, 1e-3)},
          {"median_turns", outcome.median_turns},
          {"slowest_tenth_turns", outcome.slowest_tenth_turns},
          {"median_wait_ms", outcome.median_ms},
          {"longest_wait_ms", outcome.longest_ms},
          {"share_above_5_s", outcome.above_5_s},
          {"signed_refusals", outcome.refusals},
          {"sends_without_any_answer", outcome.silent},
          {"idle_share_of_the_machine", outcome.idle}};
}

/// The slowest tenth beside the median: 1 is perfectly even.
Result<BenchResult> busy(CrowdRun& run, std::size_t devices, double seconds) {
  TRY(const Outcome outcome, run.run("busy", devices, seconds));
  BenchResult result;
  result.name = "crowd_busy_" + std::to_string(devices);
  result.value = outcome.slowest_tenth_turns;
  result.unit = "turns";
  result.baseline_name = "turns of the median device";
  result.baseline_value = outcome.median_turns;
  result.aim = "no wait above 5 s; at the limit, half of the median's turns for the slowest tenth";
  const bool quick = outcome.longest_ms <= kLongestWaitMs;
  const bool even = outcome.slowest_tenth_turns >= outcome.median_turns / 2;
  result.holds = outcome.turns > 0 && outcome.silent == 0 && (quick || (outcome.at_the_limit() && even));
  result.conditions = conditions_of(outcome);
  return result;
}

/// What a crowd whose devices send once each should get.
struct Aim {
  std::string text;
  bool refusals = true;  ///< may come
};

Result<BenchResult> once(CrowdRun& run, const std::string& name, std::size_t devices, double per_second,
                         const Aim& aim) {
  TRY(const Outcome outcome, run.run("once", devices, per_second));
  BenchResult result;
  result.name = name;
  result.value = static_cast<double>(outcome.turns);
  result.unit = "verdicts";
  result.baseline_name = "devices";
  result.baseline_value = static_cast<double>(devices);
  result.aim = aim.text;
  result.holds = outcome.turns == devices && outcome.without == 0 && outcome.silent == 0 &&
                 (aim.refusals || outcome.refusals == 0);
  result.conditions = conditions_of(outcome);
  TRY(const double peak, run.fleet().gateway_peak_mb());
  result.conditions["gateway_peak_mb"] = peak;
  return result;
}

Result<BenchResult> flooded(CrowdRun& run, std::size_t honest, double seconds) {
  TRY(LineProcess flood, run.fleet().start_flood(2));
  TRY(const Outcome alone, run.run("busy", honest, seconds));
  TRY_STATUS(flood.send("go"));
  TRY(const Outcome beside, run.run("busy", honest, seconds));
  TRY_STATUS(flood.send("stop"));
  TRY(auto words, expect_answer(flood, "done"));
  std::uint64_t messages = 0;
  words >> messages;
  BenchResult result;
  result.name = "crowd_beside_flood_ms";
  result.value = beside.median_ms;
  result.unit = "ms";
  result.baseline_name = "the same without the flood";
  result.baseline_value = alone.median_ms;
  result.conditions = conditions_of(beside);
  result.conditions["flood_messages_per_second"] = static_cast<double>(messages) / seconds;
  result.conditions["longest_wait_without_flood_ms"] = alone.longest_ms;
  return result;
}

Result<BenchResult> clients(const BenchCrowdOptions& options, Progress& progress) {
  TRY(const ClientCrowdOutcome outcome,
      run_client_crowd({options.clients, options.client_seconds, options.stop}, progress));
  BenchResult result;
  result.name = "crowd_clients";
  result.value = static_cast<double>(outcome.served);
  result.unit = "served";
  result.baseline_name = "client processes";
  result.baseline_value = static_cast<double>(outcome.clients);
  result.aim = "every client gets verdicts to the end, and the model learns";
  result.holds = outcome.served == outcome.clients && outcome.last_error < outcome.first_error;
  result.conditions = {{"seconds", outcome.seconds},
                       {"updates", outcome.updates},
                       {"updates_per_second", static_cast<double>(outcome.updates) / outcome.seconds},
                       {"fewest_updates_of_a_client", outcome.fewest_updates},
                       {"median_updates_of_a_client", outcome.median_updates},
                       {"error_of_the_first_model", outcome.first_error},
                       {"error_of_the_last_model", outcome.last_error},
                       {"gateway_cores", outcome.gateway_cores},
                       {"broker_cores", outcome.broker_cores},
                       {"clients_cores", outcome.clients_cores},
                       {"gateway_peak_mb", outcome.gateway_peak_mb},
                       {"client_mb", outcome.client_mb},
                       {"clients_mb", outcome.client_mb * static_cast<double>(outcome.clients)}};
  return result;
}

bool stopped(const BenchCrowdOptions& options) {
  return options.stop && options.stop();
}

/// The parts in which one process plays all devices.
Status bench_played(const BenchCrowdOptions& options, Progress& progress, std::vector<BenchResult>& results) {
  const std::size_t parts = options.busy.size() + 3;
  progress.show("crowd: enrolling", 0, parts);
  TRY(CrowdRun run, CrowdRun::create(options));
  for (const std::size_t devices : options.busy) {
    progress.show("crowd: " + std::to_string(devices) + " busy devices", results.size(), parts);
    TRY(auto result, busy(run, devices, options.seconds));
    results.push_back(std::move(result));
    if (stopped(options)) return unavailable("stopped");
  }
  if (options.honest > 0) {
    progress.show("crowd: one device floods", results.size(), parts);
    TRY(auto result, flooded(run, options.honest, options.seconds));
    results.push_back(std::move(result));
    if (stopped(options)) return unavailable("stopped");
  }
  if (options.burst > 0) {
    progress.show("crowd: a burst", results.size(), parts);
    const Aim aim{"every device has its verdict, and no send stays without an answer"};
    TRY(auto result, once(run, "crowd_burst", options.burst, 0, aim));
    results.push_back(std::move(result));
    if (stopped(options)) return unavailable("stopped");
  }
  if (options.stream > 0) {
    progress.show("crowd: a stream of new devices", results.size(), parts);
    const bool all_at_once = options.per_second == 0;
    const Aim aim{all_at_once ? "as for the burst" : "as for the burst, and none is refused", all_at_once};
    TRY(auto result, once(run, "crowd_stream", options.stream, options.per_second, aim));
    results.push_back(std::move(result));
  }
  return {};
}

}  // namespace

Result<std::vector<BenchResult>> bench_crowd(const BenchCrowdOptions& options, Progress& progress) {
  std::vector<BenchResult> results;
  if (!options.busy.empty() || options.honest + options.burst + options.stream > 0) {
    TRY_STATUS(bench_played(options, progress, results));
  }
  if (options.clients > 0 && !stopped(options)) {
    TRY(auto result, clients(options, progress));
    results.push_back(std::move(result));
  }
  progress.finish();
  return results;
}

}  // namespace aflguard::bench
