#pragma once

#include <string_view>

#include "core/base/result.h"
#include "core/system/command.h"

namespace aflguard::sim {

/// The programs of a fleet that are not its devices. No device has such a name.
inline constexpr std::string_view kBrokerProgram = "broker";
inline constexpr std::string_view kGatewayProgram = "gateway";

/// Runs the programs of a fleet on this machine: as children of this process, or so that they outlive it.
class ProgramHost {
 public:
  virtual ~ProgramHost() = default;

  [[nodiscard]] virtual Status start(std::string_view name, const Command& command) = 0;
  /// kInternal when that program has ended: how, and the last lines of its log.
  [[nodiscard]] virtual Status check_running(std::string_view name) = 0;
};

}  // namespace aflguard::sim
