#pragma once

#include <optional>
#include <span>

#include "core/base/result.h"
#include "core/learning/data/dataset.h"
#include "core/learning/trainer.h"

namespace aflguard::lab {

/// What a model is worth. Which ones are there depends on the data: classification has the first two.
struct Metrics {
  std::optional<double> test_error;      ///< fraction of test samples that are misclassified
  std::optional<double> attack_success;  ///< see attack_success() below
  std::optional<double> mse;             ///< mean squared residual on the (noisy) test values
  std::optional<double> mee;             ///< ||theta - theta*||

  /// The paper's tables print the mean squared error divided by 32.
  [[nodiscard]] std::optional<double> mse_paper_scale() const {
    return mse ? std::optional(*mse / 32) : std::nullopt;
  }
  friend bool operator==(const Metrics&, const Metrics&) = default;
};

/// Fraction of the test samples of other classes that, with the trigger put in, are taken for `target`.
[[nodiscard]] Result<double> attack_success(Trainer& trainer, std::span<const float> theta,
                                            const Dataset& test, std::int64_t target);

[[nodiscard]] double model_estimation_error(std::span<const float> theta, std::span<const float> true_model);

}  // namespace aflguard::lab
