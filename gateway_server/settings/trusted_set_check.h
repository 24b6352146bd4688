#pragma once

#include <string>

#include "core/learning/data/dataset.h"
#include "core/learning/model_description.h"
#include "core/learning/trainer.h"

namespace aflguard::gateway {

/// Why these samples are a poor measure of updates: too few, or without some class of the model. Empty: they
/// are in order.
[[nodiscard]] std::string trusted_set_problem(const Dataset& trusted, const ModelDescription& model);

/// Follows the gradient of the trusted samples for some steps, each as long as one update of a board would
/// make it. The text says that the loss rises, because the learning rate is too high; empty: it does not.
/// `samples` are in one update.
[[nodiscard]] Result<std::string> learning_rate_problem(Trainer& trainer, const Dataset& trusted,
                                                        std::span<const float> parameters,
                                                        double learning_rate, double samples);

}  // namespace aflguard::gateway
