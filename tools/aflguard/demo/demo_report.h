#pragma once

#include <string>

#include "core/base/result.h"
#include "firmware_sim/local_fleet/client_fleet.h"
#include "firmware_sim/local_fleet/fleet_run.h"
#include "gateway_server/store/store_reader.h"

namespace aflguard::cli {

/// One HTML page that needs nothing else: figures, test error and verdicts over time, every device.
[[nodiscard]] Result<std::string> demo_report(const sim::ClientFleet& demo,
                                              const sim::FleetRunOutcome& outcome,
                                              gateway::StoreReader& history);

}  // namespace aflguard::cli
