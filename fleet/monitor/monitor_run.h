#pragma once

#include <chrono>
#include <optional>

#include "core/base/result.h"
#include "fleet/view/fleet_watch.h"
#include "fleet/view/viewer_choice.h"

namespace aflguard::view {

struct MonitorOptions {
  ViewerRequest viewer;
  std::optional<double> interval;  ///< seconds between two screens or lines
  bool once = false;
  bool json = false;
};

/// Shows a fleet until it is told to stop: on a screen where standard output is a terminal, in lines
/// otherwise.
[[nodiscard]] Status run_monitor(const MonitorOptions& options, const BusFactory& connect);

/// Prints the fleet as it is now: text for people, or one JSON document. kUnavailable when the broker cannot
/// be reached.
[[nodiscard]] Status print_status(const MonitorOptions& options, const BusFactory& connect);

}  // namespace aflguard::view
