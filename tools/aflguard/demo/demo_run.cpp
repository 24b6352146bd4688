#include "tools/aflguard/demo/demo_run.h"

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "core/system/atomic_file.h"
#include "core/system/interruption.h"
#include "firmware_sim/byzantine_client/attack.h"
#include "firmware_sim/local_fleet/fleet_run.h"
#include "tools/aflguard/demo/demo_report.h"
#include "tools/aflguard/demo/demo_view.h"
#include "tools/aflguard/wiring.h"

namespace aflguard::cli {
namespace fs = std::filesystem;
namespace {

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

void print(const sim::ClientFleet& demo, const sim::FleetRunOutcome& outcome, const fs::path& report,
           bool json) {
  const sim::FleetRunState& state = outcome.state;
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

Result<sim::FleetRunOutcome> run_with_view(const sim::ClientFleet& demo, Interruption& interruption) {
  DemoView view(demo.settings.iterations);
  return sim::run_fleet(
      demo, {.viewer = kDemoViewer,
             .bus = viewer_bus(),
             .pause = [&interruption](std::chrono::milliseconds time) { return interruption.wait(time); },
             .show = [&view](const sim::FleetRunState& state) { view.show(state); },
             .make_trainer = [](const ModelPackage& package) { return load_trainer(package, 1, {}); }});
}

/// Everything after the folder exists; on failure it stays as it is, for the search for the reason.
Status run_in(const DemoOptions& options, const fs::path& folder, Interruption& interruption) {
  TRY(sim::ClientFleet demo, sim::make_client_fleet(options.fleet, folder));
  if (interruption.requested()) return sim::interrupted();
  std::fprintf(
      stderr, "AFLGuard Edge demo: %zu clients learn %s, %zu of them malicious (attack %s), guarded by %s.\n",
      options.fleet.clients, options.fleet.dataset.c_str(), options.fleet.malicious,
      demo.settings.attack.c_str(), options.fleet.guard.c_str());
  TRY(const sim::FleetRunOutcome outcome, run_with_view(demo, interruption));
  TRY(auto store, gateway::StoreReader::open(demo.store));
  TRY(const std::string page, demo_report(demo, outcome, store));
  const fs::path report = folder / "report.html";
  TRY_STATUS(write_file_atomically(report, page));
  sim::keep_results(demo);
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
