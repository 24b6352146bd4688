#pragma once

#include <functional>
#include <vector>

#include "bench/bench_result.h"
#include "core/base/progress.h"
#include "core/base/result.h"

namespace aflguard::bench {

struct BenchMonitorOptions {
  int rounds = 3;
  std::size_t devices = 1000;
  double seconds = 15;              ///< of the span in which CPU time and output are measured
  double interval = 10;             ///< seconds between two status messages of one device
  std::function<bool()> stop = {};  ///< asked now and then; true ends the benchmark with kUnavailable
};

/// The real `aflguard monitor` on a pseudo-terminal, a real gateway and broker, and many devices that
/// publish: how soon it answers a key and shows a message, what it costs, and what it writes to the terminal.
/// Needs Mosquitto.
[[nodiscard]] Result<std::vector<BenchResult>> bench_monitor(const BenchMonitorOptions& options,
                                                             Progress& progress);

}  // namespace aflguard::bench
