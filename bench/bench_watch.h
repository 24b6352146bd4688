#pragma once

#include <functional>
#include <vector>

#include "bench/bench_result.h"
#include "core/base/progress.h"
#include "core/base/result.h"

namespace aflguard::bench {

struct BenchWatchOptions {
  int rounds = 3;  ///< in which quiet and busy spans take turns
  std::size_t devices = 1000;
  double seconds = 20;              ///< of each span
  double interval = 10;             ///< seconds between two status messages of one device
  std::function<bool()> stop = {};  ///< asked now and then; true ends the benchmark with kUnavailable
};

/// What it costs the real gateway program to follow the status messages of many devices, to publish summaries
/// of them and to publish its own figures, while no updates come: all of its CPU time then is telemetry.
/// Needs Mosquitto.
[[nodiscard]] Result<std::vector<BenchResult>> bench_watch(const BenchWatchOptions& options,
                                                           Progress& progress);

}  // namespace aflguard::bench
