#pragma once

#include <span>

#include "core/base/result.h"
#include "core/learning/trainer.h"

namespace aflguard {

/// The SUM over the batch that clients send and references hold, out of the trainer's mean gradient. Returns
/// the mean loss. `sample_weight` multiplies each sample's gradient: 1, or 1/2 where a squared loss is meant
/// with the factor 1/2 that Trainer's mean squared error does not have.
[[nodiscard]] Result<float> summed_gradient(Trainer& trainer, std::span<const float> parameters,
                                            const Batch& batch, double sample_weight, std::span<float> sum);

}  // namespace aflguard
