#pragma once

#include <cstdint>
#include <optional>
#include <sys/types.h>

#include "core/base/result.h"
#include "fleet/folder/fleet_folder.h"
#include "fleet/folder/fleet_settings.h"

namespace aflguard::fleet {

/// The broker's process; none when its pid file is old: the number may be another process's by now.
[[nodiscard]] std::optional<pid_t> broker_process(const FleetFolder& folder);

enum class BrokerReload : std::uint8_t {
  kTold,        ///< it reads its files again: now, or in a moment
  kNotRunning,  ///< it will read them when it starts
};

/// Makes the broker read its access list, revocation list and certificate again, by fleet.toml's command or
/// by SIGHUP to the process in its pid file. kIo when that is not allowed or the command fails.
[[nodiscard]] Result<BrokerReload> reload_broker(const FleetSettings& settings, const FleetFolder& folder);

}  // namespace aflguard::fleet
