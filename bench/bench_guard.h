#pragma once

#include <vector>

#include "bench/bench_result.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "lab/runs/experiment.h"

namespace aflguard::bench {

struct BenchGuardOptions {
  int rounds = 15;            ///< in which ours and the baseline take turns
  bool with_baseline = true;  ///< PyTorch for the run on MNIST, if it is installed
  bool with_run = true;       ///< the run on MNIST at all
};

/// Cost of judging and applying one update: AFLGuard beside a plain pass over the same memory, every guard
/// of the catalog at 100, 10,000 and 1,000,000 known clients, and one whole run on MNIST beside PyTorch.
[[nodiscard]] Result<std::vector<BenchResult>> bench_guard(const BenchGuardOptions& options,
                                                           const lab::Catalog& catalog, Progress& progress);

}  // namespace aflguard::bench
