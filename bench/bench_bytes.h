#pragma once

#include <vector>

#include "bench/bench_result.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "lab/runs/experiment.h"

namespace aflguard::bench {

struct BenchBytesOptions {
  std::size_t updates = 400;  ///< of the run on MNIST that is measured
};

/// What updates and models weigh on the wire, beside float32, and what that costs, beside copying and hashing
/// the same numbers: real updates of a run of AFLGuard with the paper's network on MNIST. kNotFound where
/// MNIST is not installed.
[[nodiscard]] Result<std::vector<BenchResult>> bench_bytes(const BenchBytesOptions& options,
                                                           const lab::Catalog& catalog, Progress& progress);

}  // namespace aflguard::bench
