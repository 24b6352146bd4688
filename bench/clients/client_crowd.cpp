#include "bench/clients/client_crowd.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "bench/clients/process_figures.h"
#include "bench/offline/scratch_folder.h"
#include "core/learning/evaluation.h"
#include "core/learning_onnx/onnx_trainer.h"
#include "firmware_sim/local_fleet/client_fleet.h"
#include "firmware_sim/local_fleet/running_fleet.h"
#include "gateway_server/store/sqlite_stored_model.h"
#include "gateway_server/store/store_reader.h"

namespace aflguard::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Judged = std::map<std::string, std::uint64_t>;  ///< updates, by device

constexpr std::chrono::milliseconds kLook(500);
constexpr std::uint64_t kWithoutEnd = 100'000'000;

/// CPU time of the programs so far.
struct Used {
  double gateway = 0;
  double broker = 0;
  double clients = 0;
};

class ClientCrowd final {
 public:
  explicit ClientCrowd(sim::ClientFleet fleet)
      : fleet_(std::move(fleet)), running_(fleet_.root, fleet_.folder / "logs") {}

  Status start(const ClientCrowdOptions& options, Progress& progress) {
    TRY(const auto clients, fleet_.commands());
    TRY_STATUS(running_.launcher().start_broker());
    TRY_STATUS(running_.launcher().start_gateway());
    for (std::size_t i = 0; i < clients.size(); ++i) {
      progress.show("clients: starting", i, clients.size());
      TRY_STATUS(running_.launcher().start_client(clients[i]));
      pids_.push_back(running_.programs().pid(clients[i].device));
      if (options.stop && options.stop()) return unavailable("stopped");
    }
    for (const auto& client : clients) TRY_STATUS(running_.launcher().wait_for_client(client.device));
    return {};
  }

  Status wait(double seconds, const ClientCrowdOptions& options) {
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    while (Clock::now() < end) {
      TRY_STATUS(running_.check_running());
      if (options.stop && options.stop()) return unavailable("stopped");
      std::this_thread::sleep_for(kLook);
    }
    return {};
  }

  Result<Judged> judged() {
    TRY(auto store, gateway::StoreReader::open(fleet_.store));
    TRY(const auto state, store.progress());
    Judged judged;
    for (const sim::FleetClient& client : fleet_.clients) judged[client.name] = 0;
    for (const auto& device : state.devices) judged[device.name] = device.accepted + device.rejected;
    return judged;
  }

  Used used() {
    Used used{cpu_seconds(running_.programs().pid(sim::kGatewayProgram)),
              cpu_seconds(running_.programs().pid(sim::kBrokerProgram)), 0};
    for (const int pid : pids_) used.clients += cpu_seconds(pid);
    return used;
  }

  Status measure_memory(ClientCrowdOutcome& outcome) {
    TRY(outcome.gateway_peak_mb, peak_mb(running_.programs().pid(sim::kGatewayProgram)));
    for (const int pid : pids_) {
      TRY(const double own, own_mb(pid));
      outcome.client_mb += own / static_cast<double>(pids_.size());
    }
    return {};
  }

  Status measure_errors(ClientCrowdOutcome& outcome) {
    TRY(auto runtime, OnnxRuntime::load());
    TRY(const auto trainer, make_onnx_trainer(std::move(runtime), fleet_.package));
    TRY(const auto first, initial_theta(fleet_.package, fleet_.settings.seed));
    TRY(outcome.first_error, mean_squared_error(*trainer, first, fleet_.test));
    TRY(const SavedModel last, gateway::read_stored_model(fleet_.store, fleet_.package.description));
    TRY(outcome.last_error, mean_squared_error(*trainer, last.parameters, fleet_.test));
    return {};
  }

 private:
  sim::ClientFleet fleet_;
  sim::RunningFleet running_;
  std::vector<int> pids_;
};

void compare(const Judged& begin, const Judged& half, const Judged& end, ClientCrowdOutcome& outcome) {
  std::vector<std::uint64_t> counts;
  for (const auto& [device, updates] : end) {
    counts.push_back(updates - begin.at(device));
    outcome.updates += counts.back();
    if (updates > half.at(device)) ++outcome.served;
  }
  std::sort(counts.begin(), counts.end());
  outcome.clients = counts.size();
  outcome.fewest_updates = counts.front();
  outcome.median_updates = counts[counts.size() / 2];
}

}  // namespace

Result<ClientCrowdOutcome> run_client_crowd(const ClientCrowdOptions& options, Progress& progress) {
  TRY(const StagedDirectory scratch, scratch_folder());
  const auto folder = std::filesystem::absolute(scratch.path());
  progress.show("clients: enrolling", 0, options.clients);
  TRY(auto fleet, sim::make_client_fleet({.name = "crowd",
                                          .dataset = "synthetic",
                                          .clients = options.clients,
                                          .malicious = 0,
                                          .updates = kWithoutEnd,
                                          .recording = false},
                                         folder));
  ClientCrowd crowd(std::move(fleet));
  TRY_STATUS(crowd.start(options, progress));
  ClientCrowdOutcome outcome;
  const auto begin_time = Clock::now();
  const Used before = crowd.used();
  TRY(const Judged begin, crowd.judged());
  progress.show("clients: learning", 0, 2);
  TRY_STATUS(crowd.wait(options.seconds / 2, options));
  TRY(const Judged half, crowd.judged());
  progress.show("clients: learning", 1, 2);
  TRY_STATUS(crowd.wait(options.seconds / 2, options));
  TRY(const Judged end, crowd.judged());
  outcome.seconds = std::chrono::duration<double>(Clock::now() - begin_time).count();
  const Used after = crowd.used();
  outcome.gateway_cores = (after.gateway - before.gateway) / outcome.seconds;
  outcome.broker_cores = (after.broker - before.broker) / outcome.seconds;
  outcome.clients_cores = (after.clients - before.clients) / outcome.seconds;
  compare(begin, half, end, outcome);
  TRY_STATUS(crowd.measure_memory(outcome));
  TRY_STATUS(crowd.measure_errors(outcome));
  return outcome;
}

}  // namespace aflguard::bench
