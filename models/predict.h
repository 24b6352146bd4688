#pragma once

#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/learning/trainer.h"
#include "models/model_arrays.h"

namespace aflguard::models {

/// The model's outputs for all samples, `at_once` of them per run (0: all); the size of a run matters for
/// batch normalisation.
[[nodiscard]] Result<std::vector<float>> predict(Trainer& trainer, std::span<const float> theta,
                                                 const Samples& samples, std::size_t at_once);

}  // namespace aflguard::models
