#pragma once

#include "core/base/result.h"
#include "tools/aflguard/demo/local_training.h"

namespace aflguard::cli {

/// No fleet: the paper's CNN learns MNIST in this process.
[[nodiscard]] Status run_local_demo(const LocalTrainingOptions& options, bool json);

}  // namespace aflguard::cli
