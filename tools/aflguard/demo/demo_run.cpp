#include "tools/aflguard/demo/demo_run.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "core/learning/evaluation.h"
#include "core/system/atomic_file.h"
#include "core/system/child_group.h"
#include "core/system/interruption.h"
#include "core/system/programs.h"
#include "firmware_sim/byzantine_client/attack.h"
#include "firmware_sim/local_fleet/running_fleet.h"
#include "fleet/folder/viewer_identity.h"
#include "fleet/view/fleet_watch.h"
#include "gateway_server/store/sqlite_stored_model.h"
#include "tools/aflguard/demo/demo_report.h"
#include "tools/aflguard/demo/demo_view.h"
#include "tools/aflguard/wiring.h"

namespace aflguard::cli {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kLookInterval = 100ms;
/// Without any verdict for this long someone looks why.
constexpr auto kStallTimeout = 30s;
/// Without any verdict for this long, and without a reason, the demo ends.
constexpr auto kLongestTimeout = 180s;
constexpr double kRateWindow = 5;  // seconds

/// Where many hundred megabytes of recordings may lie: not in memory, which /tmp often is.
Result<fs::path> make_folder(const DemoOptions& options) {
  std::error_code error;
  if (!options.output.empty()) {
    const fs::path folder = fs::absolute(options.output, error);
    if (fs::exists(folder, error) && !fs::is_empty(folder, error)) {
      return invalid_input(folder.string() + " exists already; choose another folder or remove it first");
    }
    fs::create_directories(folder, error);
    if (error) return io_error("cannot create " + folder.string() + ": " + error.message());
    return folder;
  }
  const char* chosen = std::getenv("TMPDIR");
  std::string name =
      (chosen != nullptr && *chosen != '\0' ? std::string(chosen) : "/var/tmp") + "/aflguard-demo-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    return io_error("cannot make a temporary folder " + name + "; set TMPDIR to one that you can write to");
  }
  return fs::path(name);
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
bool nobody_can_send(const sim::ClientFleet& demo, const sim::RunningFleet& fleet) {
  return std::all_of(demo.clients.begin(), demo.clients.end(), [&](const sim::FleetClient& client) {
    return client.malicious ||
           last_lines(fleet.log(client.name), 5).find("NaN or an infinity") != std::string::npos;
  });
}

/// Messages that the gateway refused before any guard saw them, by reason, as far as it has said so by now.
std::map<std::string, std::uint64_t> refused_by(view::FleetWatch& gateway) {
  gateway.listen({});
  const ReasonCounts& refused = gateway.picture().gateway().metrics.refused;
  return {refused.begin(), refused.end()};
}

/// Watches until enough updates are judged. The remark says why it ended otherwise.
Result<std::string> watch(const sim::ClientFleet& demo, sim::RunningFleet& fleet,
                          gateway::StoreReader& history, view::FleetWatch& metrics,
                          Interruption& interruption) {
  DemoView view(demo.settings.iterations);
  Rate rate;
  const auto start = Clock::now();
  auto last_news = start;
  gateway::FleetProgress latest;
  std::uint64_t judged = 0;
  while (true) {
    TRY_STATUS(fleet.check_running());
    const auto progress = history.progress();
    // The gateway may be just about to write; what is seen a moment later is as good.
    if (!progress.ok() && progress.error().kind != ErrorKind::kUnavailable) return progress.error();
    if (progress.ok()) latest = *progress;
    DemoState state = DemoState::from(latest, demo.clients);
    state.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    state.updates_per_second = rate.add(state.seconds, state.updates);
    state.refused = refused_by(metrics);
    view.show(state);
    if (state.updates >= demo.settings.iterations) return std::string();
    if (state.updates > judged) last_news = Clock::now();
    judged = state.updates;
    const auto silence = Clock::now() - last_news;
    if (silence > kStallTimeout && judged > 0 && nobody_can_send(demo, fleet)) {
      return "After " + std::to_string(judged) +
             " updates nobody sent any more: from this model no finite update can be computed.";
    }
    if (silence > kLongestTimeout) {
      const std::string waited = std::to_string(kLongestTimeout.count()) + " s";
      if (judged == 0) return unavailable("no update was judged in " + waited);
      return "After " + std::to_string(judged) + " updates no other was judged for " + waited +
             ": the machine may be too busy; the clients' logs are in " + (demo.folder / "logs").string() +
             ".";
    }
    if (interruption.wait(kLookInterval)) return sim::interrupted();
  }
}

/// The last durable model on every test sample.
Result<double> final_error(const sim::ClientFleet& demo) {
  TRY(const SavedModel model, gateway::read_stored_model(demo.store, demo.package.description));
  TRY(const auto trainer, load_trainer(demo.package, 1, {}));
  return demo.test.regression() ? mean_squared_error(*trainer, model.parameters, demo.test)
                                : test_error(*trainer, model.parameters, demo.test);
}

void print(const sim::ClientFleet& demo, const DemoOutcome& outcome, const fs::path& report, bool json) {
  const DemoState& state = outcome.state;
  if (json) {
    nlohmann::ordered_json document = {
        {"schema", "aflguard-demo-1"},
        {"test_error", outcome.test_error},
        {"updates", state.updates},
        {"updates_per_second", state.updates_per_second},
        {"accepted", {{"honest", state.honest.accepted}, {"byzantine", state.malicious.accepted}}},
        {"rejected", {{"honest", state.honest.rejected}, {"byzantine", state.malicious.rejected}}},
        {"refused", state.refused},
        {"model_version", state.version},
        {"seconds", state.seconds},
        {"settings", lab::to_json(demo.settings)},
        {"report", report.string()}};
    document["recording"] = nullptr;
    if (!demo.recording.empty()) document["recording"] = demo.recording.string();
    if (!outcome.remark.empty()) document["remark"] = outcome.remark;
    std::printf("%s\n", document.dump(2).c_str());
    return;
  }
  if (!outcome.remark.empty()) std::printf("%s\n", outcome.remark.c_str());
  std::printf("%s %.4f on %zu test samples after %llu updates in %.0f s (%.0f per second)\n",
              demo.test.regression() ? "mean squared error" : "test error", outcome.test_error,
              demo.test.size(), static_cast<unsigned long long>(state.updates), state.seconds,
              state.updates_per_second);
  std::printf("honest clients:    %6llu accepted, %6llu rejected\n",
              static_cast<unsigned long long>(state.honest.accepted),
              static_cast<unsigned long long>(state.honest.rejected));
  std::printf("malicious clients: %6llu accepted, %6llu rejected\n",
              static_cast<unsigned long long>(state.malicious.accepted),
              static_cast<unsigned long long>(state.malicious.rejected));
  for (const auto& [reason, count] : state.refused) {
    std::printf("refused before any guard saw them: %llu %s\n", static_cast<unsigned long long>(count),
                reason.c_str());
  }
  std::printf("report: %s\n", report.c_str());
  if (!demo.recording.empty()) {
    std::printf("recording: %s (at most %llu MB; aflguard lab replay checks every verdict)\n",
                demo.recording.c_str(), static_cast<unsigned long long>(demo.recording_megabytes));
  }
}

/// Keys and copies of data are of no use any more; report, recording, logs and the gateway's store stay.
void tidy(sim::ClientFleet& demo) {
  std::error_code error;
  fs::remove_all(demo.folder / "data", error);
  for (const char* part : {"", "-wal", "-shm"}) {  // SQLite's files belong together
    fs::rename(demo.store.string() + part, (demo.folder / "gateway.db").string() + part, error);
  }
  if (!demo.recording.empty()) {
    fs::rename(demo.recording, demo.folder / "recording", error);
    if (!error) demo.recording = demo.folder / "recording";
  }
  fs::remove_all(demo.folder / "fleet", error);
}

/// Everything after the folder exists; on failure it stays as it is, for the search for the reason.
Status run_in(const DemoOptions& options, const fs::path& folder, Interruption& interruption) {
  TRY(sim::ClientFleet demo, sim::make_client_fleet(options.fleet, folder));
  if (interruption.requested()) return sim::interrupted();
  std::fprintf(
      stderr, "AFLGuard Edge demo: %zu clients learn %s, %zu of them malicious (attack %s), guarded by %s.\n",
      options.fleet.clients, options.fleet.dataset.c_str(), options.fleet.malicious,
      demo.settings.attack.c_str(), options.fleet.guard.c_str());
  sim::RunningFleet fleet(
      demo.root, demo.folder / "logs",
      {.pause = [&interruption](std::chrono::milliseconds time) { return interruption.wait(time); }});
  TRY(const auto clients, demo.commands());
  TRY_STATUS(fleet.start(clients));
  TRY(auto history, gateway::StoreReader::open(demo.store));
  const auto start = Clock::now();
  DemoOutcome outcome;
  TRY(const auto metrics,
      view::FleetWatch::start(fleet::viewer_identity(demo.fleet, demo.root, kDemoViewer), viewer_bus()));
  TRY(outcome.remark, watch(demo, fleet, history, *metrics, interruption));
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  fleet.stop();
  TRY(const gateway::FleetProgress progress, history.progress());
  outcome.state = DemoState::from(progress, demo.clients);
  outcome.state.seconds = seconds;
  outcome.state.refused = refused_by(*metrics);
  outcome.state.updates_per_second = static_cast<double>(outcome.state.updates) / seconds;
  TRY(outcome.test_error, final_error(demo));
  outcome.folder = folder;
  TRY(const std::string page, demo_report(demo, outcome, history));
  const fs::path report = folder / "report.html";
  TRY_STATUS(write_file_atomically(report, page));
  tidy(demo);
  print(demo, outcome, report, options.json);
  return {};
}

}  // namespace

Status run_demo(const DemoOptions& options) {
  if (options.fleet.malicious > 0) TRY_STATUS(sim::check_attack(options.fleet.attack));
  TRY([[maybe_unused]] const auto settings, sim::fleet_experiment(options.fleet));
  Interruption interruption;
  TRY_STATUS(interruption.install());
  TRY(const fs::path folder, make_folder(options));
  const Status status = run_in(options, folder, interruption);
  if (status.ok()) return {};
  if (interruption.requested() || status.error().kind == ErrorKind::kInvalidInput) {
    std::error_code error;
    fs::remove_all(folder, error);
    return status;
  }
  return Error{status.error().kind, status.error().message + " (everything is in " + folder.string() + ")"};
}

}  // namespace aflguard::cli
