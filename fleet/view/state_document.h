#pragma once

#include <string>

#include "fleet/view/fleet_state.h"

namespace aflguard::view {

/// The picture as one JSON document for scripts (schema aflguard-status-1, docs/monitor.md): the gateway,
/// the tally, and every device, the most troubled first.
[[nodiscard]] std::string picture_document(const FleetState& picture, WallTime now);

}  // namespace aflguard::view
