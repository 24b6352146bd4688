#pragma once

#include <functional>
#include <vector>

#include "bench/bench_result.h"
#include "core/base/progress.h"
#include "core/base/result.h"

namespace aflguard::bench {

struct BenchGatewayOptions {
  int rounds = 7;               ///< in which ours and the baseline take turns
  std::size_t publishers = 10;  ///< processes, each with one update outstanding
  std::size_t updates = 25;     ///< per publisher and round
  std::uint64_t reference_interval = 10;
  std::function<bool()> stop = {};  ///< asked between rounds; true ends the benchmark with kUnavailable
};

/// What the real gateway program sustains beside a subscriber that only counts, its memory, and how an update
/// fares on a slow link. Needs Mosquitto; the slow link needs root and iproute2 and is reported as missing
/// without them.
[[nodiscard]] Result<std::vector<BenchResult>> bench_gateway(const BenchGatewayOptions& options,
                                                             Progress& progress);

/// The part of it on the slow link, `slow_link_update_s`: from the first piece of a 560 KB update to its
/// verdict, beside plain TCP that carries as many bytes and one byte back over the same link. Without root,
/// TUN devices or iproute2 the figure says why it is missing.
[[nodiscard]] Result<BenchResult> bench_slow_link(int rounds, Progress& progress);

}  // namespace aflguard::bench
