#pragma once

#include <chrono>
#include <functional>

#include "core/base/result.h"
#include "core/learning/data/dataset.h"
#include "core/learning/trainer.h"

namespace aflguard::lab {

struct LocalTrainingOptions {
  std::chrono::seconds duration{60};
  std::size_t batch = 32;
  float rate = 0.05F;  ///< on the mean gradient of a batch
  std::uint64_t seed = 1;
};

/// How far a local training is; the loss is a running mean over about the last 100 batches.
struct LocalTrainingState {
  std::size_t steps = 0;
  double seconds = 0;
  double loss = 0;
};

/// Plain stochastic gradient descent on one machine until the time is over. `watch` is called after every
/// step and stops the training early by returning false. kInternal when the loss stops being finite.
[[nodiscard]] Result<LocalTrainingState> train_locally(
    Trainer& trainer, const Dataset& data, std::span<float> theta, const LocalTrainingOptions& options,
    const std::function<bool(const LocalTrainingState&)>& watch);

}  // namespace aflguard::lab
