#pragma once

#include "core/base/result.h"
#include "lab/runs/local_training.h"

namespace aflguard::cli {

/// No fleet: the paper's CNN learns MNIST in this process.
[[nodiscard]] Status run_local_demo(const lab::LocalTrainingOptions& options, bool json);

}  // namespace aflguard::cli
