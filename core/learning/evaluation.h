#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/base/result.h"
#include "core/learning/data/dataset.h"
#include "core/learning/trainer.h"

namespace aflguard {

/// The highest score wins; NaN never does. A diverged model that gives nothing but NaN predicts class 0.
[[nodiscard]] std::int64_t predicted_class(std::span<const float> scores);

/// Share of the first `limit` samples that are misclassified. `statistics` of normalisations are given, or
/// empty: then each batch of samples has its own.
[[nodiscard]] Result<double> test_error(Trainer& trainer, std::span<const float> theta, const Dataset& test,
                                        std::size_t limit = SIZE_MAX, std::span<const float> statistics = {});

/// Mean squared residual over the first `limit` samples. Always finite: a prediction that a diverged model
/// takes out of float's range counts as the largest float.
[[nodiscard]] Result<double> mean_squared_error(Trainer& trainer, std::span<const float> theta,
                                                const Dataset& test, std::size_t limit = SIZE_MAX,
                                                std::span<const float> statistics = {});

/// Predicts the samples at `indices`, a few at a time, after `prepare` (may be empty) has changed each, and
/// visits every output.
[[nodiscard]] Status for_each_prediction(
    Trainer& trainer, std::span<const float> theta, const Dataset& test, std::span<const std::size_t> indices,
    const std::function<void(std::span<float> sample)>& prepare,
    const std::function<void(std::size_t index, std::span<const float> output)>& visit,
    std::span<const float> statistics = {});

}  // namespace aflguard
