#pragma once

#include "bench/bench_result.h"
#include "core/base/progress.h"
#include "core/base/result.h"

namespace aflguard::bench {

/// `slow_link_update_s`: from the first piece of a 560 KB update to its verdict, beside plain TCP that
/// carries as many bytes and one byte back over the same link. Without root, TUN devices or iproute2 the
/// figure says why it is missing.
[[nodiscard]] Result<BenchResult> bench_slow_link(int rounds, Progress& progress);

}  // namespace aflguard::bench
