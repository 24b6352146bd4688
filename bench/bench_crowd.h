#pragma once

#include <functional>
#include <vector>

#include "bench/bench_fleet.h"
#include "bench/bench_result.h"
#include "core/base/progress.h"

namespace aflguard::bench {

struct BenchCrowdOptions {
  std::vector<std::size_t> busy = {40, 100, 400, 2000};  ///< devices that always have one update under way
  double seconds = 30;                                   ///< for each of these
  std::size_t burst = 5000;                              ///< devices that begin at once
  std::size_t stream = 100'000;                          ///< devices that send once each
  double per_second = 300;                               ///< of them; 0: all at once
  std::size_t honest = 50;                               ///< devices beside one that floods
  std::size_t clients = 200;                             ///< real client processes
  double client_seconds = 300;                           ///< that they train
  std::size_t memory_bytes = 0;                          ///< of the gateway's [limits]; 0: its default
  BenchModel model = BenchModel::kSmall;
  std::function<bool()> stop = {};
};

/// How a gateway serves many distinct devices: turns, waits, refusals, what one that floods costs the
/// others, and what a crowd of real client processes takes. Each figure says what it should be. A count of 0
/// leaves a part out.
[[nodiscard]] Result<std::vector<BenchResult>> bench_crowd(const BenchCrowdOptions& options,
                                                           Progress& progress);

}  // namespace aflguard::bench
