#pragma once

#include <vector>

#include "bench/bench_result.h"
#include "core/base/progress.h"
#include "core/base/result.h"

namespace aflguard::bench {

struct BenchTrainOptions {
  int rounds = 9;             ///< of ours and the baseline, taking turns
  bool with_baseline = true;  ///< PyTorch, if it is installed
};

/// Cost of training steps on one thread, process CPU time, beside PyTorch in the same run.
[[nodiscard]] Result<std::vector<BenchResult>> bench_train(const BenchTrainOptions& options,
                                                           Progress& progress);

}  // namespace aflguard::bench
