#pragma once

#include <string>

#include "core/base/result.h"
#include "core/learning/trainer.h"

namespace aflguard::models {

struct GradientCheck {
  double worst_error = 0;       ///< relative, over all parameters
  std::string worst_parameter;  ///< where
  double loss = 0;
  std::size_t directions = 0;  ///< number of derivatives compared
};

/// Compares the trainer's gradient with differences of the loss, for each parameter tensor along the gradient
/// itself and along a random direction. Inputs and targets are random.
///
/// The loss's change between two points is compared with the mean of the claimed slopes between them: that
/// holds across the kinks of Relu and max pooling, which plain central differences stumble over. Each
/// comparison is repeated with smaller steps and more points until it agrees; a wrong gradient never does.
/// Errors are relative to the slope along the gradient, so that directions in which nothing changes do not
/// divide by zero.
[[nodiscard]] Result<GradientCheck> check_gradient(Trainer& trainer, std::vector<float> theta,
                                                   std::size_t batch, std::uint64_t seed);

}  // namespace aflguard::models
