#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "firmware_sim/local_fleet/program_host.h"
#include "fleet/folder/fleet_folder.h"

namespace aflguard::sim {

/// Waits so long; false: it cannot be interrupted.
[[nodiscard]] bool sleep_on(std::chrono::milliseconds time);

/// How a launcher waits for programs to be ready.
struct LaunchOptions {
  std::chrono::seconds timeout{60};  ///< for each
  /// Waits so long, or until the user wants to stop: true then.
  std::function<bool(std::chrono::milliseconds)> pause = sleep_on;
  std::filesystem::path programs = {};  ///< the folder of ours; empty: this program's own
};

/// What functions return when the user wants to stop.
[[nodiscard]] Error interrupted();

/// A client program and its arguments.
struct ClientCommand {
  std::string device;
  std::vector<std::string> arguments;
};

/// The one launcher: starts the programs of a fleet in a folder of this machine, in their order, and knows
/// when each is ready. Where and how long they run is the host's.
class FleetLauncher final {
 public:
  /// Every program's output is added to NAME.log in `logs`, which is made where it is missing.
  FleetLauncher(fleet::FleetFolder folder, std::filesystem::path logs, ProgramHost& host,
                LaunchOptions options);

  [[nodiscard]] std::filesystem::path log(std::string_view name) const {
    return logs_ / (std::string(name) + ".log");
  }

  /// kInvalidInput, with the gateway's reason, when it would not start with its configuration.
  [[nodiscard]] Status check_gateway() const;

  /// Returns when the broker takes connections; it needs the fleet's folder alone.
  [[nodiscard]] Status start_broker();
  /// Returns when the gateway is connected and judges.
  [[nodiscard]] Status start_gateway();
  /// Does not wait: a client may need long for its first connection.
  [[nodiscard]] Status start_client(const ClientCommand& client);
  [[nodiscard]] Status wait_for_client(std::string_view device);
  /// Any other program that says when it is ready (aflguard.ready.v1).
  [[nodiscard]] Status start_ready(std::string_view name, std::vector<std::string> arguments);

  /// What the program has written since this launcher started it.
  [[nodiscard]] std::string written(std::string_view name) const;
  /// Until `done` with what the program has written since its start. kInternal when it ends before,
  /// kUnavailable when that takes too long or the user wants to stop: "the NAME `problem` after ... s".
  [[nodiscard]] Status wait_for(std::string_view name, const std::string& problem,
                                const std::function<bool(std::string_view written)>& done);

 private:
  [[nodiscard]] Status start(std::string_view name, std::vector<std::string> arguments);
  [[nodiscard]] std::filesystem::path gateway_configuration() const {
    return folder_.gateway() / "gateway.toml";
  }

  fleet::FleetFolder folder_;
  std::filesystem::path logs_;
  ProgramHost& host_;
  LaunchOptions options_;
  std::map<std::string, std::uintmax_t, std::less<>> begin_;  ///< where a log of this launch begins
};

/// A program of ours in that folder, or beside this program where it is empty. kNotFound when it is not
/// there.
[[nodiscard]] Result<std::filesystem::path> fleet_program(const std::string& name,
                                                          const std::filesystem::path& folder);

/// True when the log says that its program is connected and at work.
[[nodiscard]] bool says_ready(std::string_view log);

}  // namespace aflguard::sim
