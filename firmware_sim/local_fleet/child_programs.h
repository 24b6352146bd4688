#pragma once

#include "core/system/child_group.h"
#include "firmware_sim/local_fleet/program_host.h"

namespace aflguard::sim {

/// The programs of a fleet as children of this process: they end with it, however it ends.
class ChildPrograms final : public ProgramHost {
 public:
  [[nodiscard]] Status start(std::string_view name, const Command& command) override;
  [[nodiscard]] Status check_running(std::string_view name) override;
  [[nodiscard]] Status check_running();

  /// Below 0 when it does not run. Of a client: of the one that was started last.
  [[nodiscard]] pid_t pid(std::string_view name);

  void stop_clients() { clients_.stop(); }
  void stop_gateway() { gateway_.stop(); }
  void stop_broker() { broker_.stop(); }
  /// Clients first, the broker last: each can still say goodbye.
  void stop();

 private:
  [[nodiscard]] ChildGroup& group(std::string_view name);

  static constexpr std::chrono::seconds kStopTimeout{10};
  ChildGroup broker_{kStopTimeout};
  ChildGroup gateway_{kStopTimeout};
  ChildGroup clients_{kStopTimeout};
};

}  // namespace aflguard::sim
