#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/learning/trainer.h"
#include "firmware_sim/local_fleet/client_fleet.h"
#include "fleet/view/fleet_watch.h"
#include "gateway_server/store/store_reader.h"

namespace aflguard::sim {

/// Verdicts of one kind of client.
struct ClientTally {
  std::uint64_t accepted = 0;
  std::uint64_t rejected = 0;
};

/// How far a fleet has come, by the kinds of its clients. The gateway does not know them; who made the fleet
/// does.
struct FleetRunState {
  std::uint64_t updates = 0;
  std::uint64_t version = 0;
  ClientTally honest;
  ClientTally malicious;
  std::map<std::string, std::uint64_t> refused;  ///< messages that no guard saw, by reason
  std::optional<double> test_error;
  double seconds = 0;             ///< since all programs were started
  double updates_per_second = 0;  ///< over the last seconds; at the end, over the whole run
};

[[nodiscard]] FleetRunState run_state(const gateway::FleetProgress& progress,
                                      const std::vector<FleetClient>& clients);

struct FleetRunOptions {
  std::string viewer;                   ///< whose identity reads the gateway's figures
  view::BusFactory bus;                 ///< connects it
  std::filesystem::path programs = {};  ///< the folder of ours; empty: this program's own
  /// Waits so long, or until the user wants to stop: true then.
  std::function<bool(std::chrono::milliseconds)> pause = sleep_on;
  /// Several times per second.
  std::function<void(const FleetRunState&)> show = [](const FleetRunState&) {};
  std::function<Result<std::unique_ptr<Trainer>>(const ModelPackage&)> make_trainer;
};

struct FleetRunOutcome {
  FleetRunState state;
  double test_error = 0;  ///< of the last model on all test samples; mean squared error for regression
  std::string remark;     ///< why it ended early; empty when it did not
};

/// Runs broker, gateway and clients until as many updates are judged as the fleet's settings say, or until no
/// honest client has a finite update to send; then stops them. kUnavailable, with the word "interrupted",
/// when the user wanted to stop.
[[nodiscard]] Result<FleetRunOutcome> run_fleet(const ClientFleet& fleet, const FleetRunOptions& options);

/// Moves store and recording of a fleet that has stopped to the top of its folder, and removes keys and
/// copies of data.
void keep_results(ClientFleet& fleet);

}  // namespace aflguard::sim
