#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/learning/data/dataset.h"
#include "core/learning/trainer.h"

namespace aflguard {

/// Samples on which statistics are measured, at most: more of them change the third digit of a prediction.
inline constexpr std::size_t kMaxCalibrationSamples = 1024;
/// Those that a package carries to every board, at most.
inline constexpr std::size_t kPackagedCalibrationSamples = 256;

/// Features of at most `most` samples, which lie evenly in `data`: tables are often sorted by class.
[[nodiscard]] std::vector<float> calibration_features(const Dataset& data, std::size_t most);

/// Means and variances of the model's normalisations at `theta` over `features`, whole samples. Two programs
/// that measure on the same samples get the same predictions. Empty for a model without normalisations.
[[nodiscard]] Result<std::vector<float>> measure_statistics(Trainer& trainer, std::span<const float> theta,
                                                            std::span<const float> features);

}  // namespace aflguard
