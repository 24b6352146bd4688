#pragma once

#include <string>
#include <vector>

#include "fleet/view/fleet_state.h"

namespace aflguard::view {

/// The fleet in one line, for logs and for output that is not a terminal.
[[nodiscard]] std::string summary_line(const FleetState& picture, WallTime now);

/// One line for an event.
[[nodiscard]] std::string event_line(const FleetEvent& event);

/// A page of text for people: summary, gateway, and devices, the most troubled first.
[[nodiscard]] std::vector<std::string> status_lines(const FleetState& picture, WallTime now);

}  // namespace aflguard::view
