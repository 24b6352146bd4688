#pragma once

#include "firmware_sim/local_fleet/child_programs.h"
#include "firmware_sim/local_fleet/fleet_launcher.h"

namespace aflguard::sim {

/// A fleet whose programs run as long as this object lives. Made and used by one thread, which must live as
/// long: children end with the thread that started them.
class RunningFleet final {
 public:
  RunningFleet(fleet::FleetFolder folder, std::filesystem::path logs, LaunchOptions options = {})
      : launcher_(std::move(folder), std::move(logs), programs_, std::move(options)) {}
  RunningFleet(const RunningFleet&) = delete;
  RunningFleet& operator=(const RunningFleet&) = delete;
  ~RunningFleet() { stop(); }

  /// Broker, gateway and clients, each when what it needs is ready; clients connect meanwhile.
  [[nodiscard]] Status start(const std::vector<ClientCommand>& clients);
  /// kInternal when one of them has ended: which, how, and the last lines of its log.
  [[nodiscard]] Status check_running() { return programs_.check_running(); }
  /// Clients, then the gateway, then the broker.
  void stop() { programs_.stop(); }

  /// The steps of start(), for who needs something in between.
  [[nodiscard]] FleetLauncher& launcher() { return launcher_; }
  [[nodiscard]] ChildPrograms& programs() { return programs_; }
  [[nodiscard]] std::filesystem::path log(std::string_view name) const { return launcher_.log(name); }

 private:
  ChildPrograms programs_;
  FleetLauncher launcher_;
};

}  // namespace aflguard::sim
