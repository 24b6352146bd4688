#include "firmware_sim/local_fleet/fleet_run.h"

#include <algorithm>
#include <deque>

#include "core/learning/evaluation.h"
#include "core/system/child_group.h"
#include "firmware_sim/local_fleet/running_fleet.h"
#include "fleet/folder/viewer_identity.h"
#include "gateway_server/store/sqlite_stored_model.h"

namespace aflguard::sim {
namespace fs = std::filesystem;
namespace {

using SteadyClock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kViewInterval = 100ms;
/// After this long without a verdict, the clients' logs are searched for the reason.
constexpr auto kStallTimeout = 30s;
/// After this long without a verdict, and without a reason, the run ends.
constexpr auto kLongestTimeout = 180s;
constexpr double kRateWindow = 5;  // seconds

double seconds_since(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

/// Updates per second over the last moments.
class Rate final {
 public:
  double add(double seconds, std::uint64_t updates) {
    samples_.emplace_back(seconds, updates);
    while (samples_.size() > 2 && samples_.front().first < seconds - kRateWindow) samples_.pop_front();
    const double time = seconds - samples_.front().first;
    return time > 0 ? static_cast<double>(updates - samples_.front().second) / time : 0;
  }

 private:
  std::deque<std::pair<double, std::uint64_t>> samples_;
};

/// True when every honest client says that it has no finite update to send.
bool nobody_can_send(const ClientFleet& made, const RunningFleet& running) {
  return std::all_of(made.clients.begin(), made.clients.end(), [&](const FleetClient& client) {
    return client.malicious ||
           last_lines(running.log(client.name), 5).find("NaN or an infinity") != std::string::npos;
  });
}

/// Messages that the gateway refused before any guard saw them, by reason, as far as it has reported them.
std::map<std::string, std::uint64_t> refused_by(view::FleetWatch& gateway) {
  gateway.listen({});
  const ReasonCounts& refused = gateway.picture().gateway().metrics.refused;
  return {refused.begin(), refused.end()};
}

/// Why a run without new verdicts ends; nothing while it goes on.
Result<std::optional<std::string>> end_of_stall(const ClientFleet& made, const RunningFleet& running,
                                                std::uint64_t judged, SteadyClock::duration silence) {
  if (silence > kStallTimeout && judged > 0 && nobody_can_send(made, running)) {
    return std::optional("After " + std::to_string(judged) +
                         " updates ended the run: from this model no finite update can be computed.");
  }
  if (silence <= kLongestTimeout) return std::optional<std::string>();
  const std::string waited = std::to_string(kLongestTimeout.count()) + " s";
  if (judged == 0) return unavailable("no update was judged in " + waited);
  return std::optional("After " + std::to_string(judged) + " updates no other was judged for " + waited +
                       ": the machine may be too busy; the clients' logs are in " +
                       (made.folder / "logs").string() + ".");
}

/// Until enough updates are judged. The remark says why it ended otherwise.
Result<std::string> watch(const ClientFleet& made, RunningFleet& running, gateway::StoreReader& store,
                          view::FleetWatch& metrics, const FleetRunOptions& options) {
  Rate rate;
  const auto start = SteadyClock::now();
  auto last_news = start;
  gateway::FleetProgress latest;
  std::uint64_t judged = 0;
  while (true) {
    TRY_STATUS(running.check_running());
    const auto progress = store.progress();
    // The gateway may be just about to write; what is seen a moment later is as good.
    if (!progress.ok() && progress.error().kind != ErrorKind::kUnavailable) return progress.error();
    if (progress.ok()) latest = *progress;
    FleetRunState state = run_state(latest, made.clients);
    state.seconds = seconds_since(start);
    state.updates_per_second = rate.add(state.seconds, state.updates);
    state.refused = refused_by(metrics);
    options.show(state);
    if (state.updates >= made.settings.iterations) return std::string();
    if (state.updates > judged) last_news = SteadyClock::now();
    judged = state.updates;
    TRY(const auto remark, end_of_stall(made, running, judged, SteadyClock::now() - last_news));
    if (remark) return *remark;
    if (options.pause(kViewInterval)) return interrupted();
  }
}

/// The last durable model on every test sample.
Result<double> final_error(const ClientFleet& made, const FleetRunOptions& options) {
  TRY(const SavedModel model, gateway::read_stored_model(made.store, made.package.description));
  TRY(const auto trainer, options.make_trainer(made.package));
  return made.test.regression() ? mean_squared_error(*trainer, model.parameters, made.test)
                                : test_error(*trainer, model.parameters, made.test);
}

}  // namespace

FleetRunState run_state(const gateway::FleetProgress& progress, const std::vector<FleetClient>& clients) {
  FleetRunState state;
  state.updates = progress.iteration;
  state.version = progress.version;
  if (progress.evaluation) state.test_error = progress.evaluation->test_error;
  for (const gateway::DeviceTally& tally : progress.devices) {
    const auto known = std::find_if(clients.begin(), clients.end(),
                                    [&](const FleetClient& client) { return client.name == tally.name; });
    if (known == clients.end()) continue;
    ClientTally& kind = known->malicious ? state.malicious : state.honest;
    kind.accepted += tally.accepted;
    kind.rejected += tally.rejected;
  }
  return state;
}

Result<FleetRunOutcome> run_fleet(const ClientFleet& fleet, const FleetRunOptions& options) {
  RunningFleet running(fleet.root, fleet.folder / "logs",
                       {.pause = options.pause, .programs = options.programs});
  TRY(const auto clients, fleet.commands(options.programs));
  TRY_STATUS(running.start(clients));
  TRY(auto store, gateway::StoreReader::open(fleet.store));
  const auto start = SteadyClock::now();
  TRY(const auto metrics,
      view::FleetWatch::start(fleet::viewer_identity(fleet.fleet, fleet.root, options.viewer), options.bus));
  FleetRunOutcome outcome;
  TRY(outcome.remark, watch(fleet, running, store, *metrics, options));
  const double seconds = seconds_since(start);
  running.stop();
  TRY(const gateway::FleetProgress progress, store.progress());
  outcome.state = run_state(progress, fleet.clients);
  outcome.state.seconds = seconds;
  outcome.state.refused = refused_by(*metrics);
  outcome.state.updates_per_second = static_cast<double>(outcome.state.updates) / seconds;
  TRY(outcome.test_error, final_error(fleet, options));
  return outcome;
}

void keep_results(ClientFleet& fleet) {
  std::error_code error;
  fs::remove_all(fleet.folder / "data", error);
  const fs::path store = fleet.folder / "gateway.db";
  for (const char* part : {"-wal", "-shm", ""}) {  // SQLite's files belong together
    fs::rename(fleet.store.string() + part, store.string() + part, error);
  }
  if (!error) fleet.store = store;
  if (!fleet.recording.empty()) {
    fs::rename(fleet.recording, fleet.folder / "recording", error);
    if (!error) fleet.recording = fleet.folder / "recording";
  }
  fs::remove_all(fleet.folder / "fleet", error);
}

}  // namespace aflguard::sim
