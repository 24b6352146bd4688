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

/// Compares the trainer's gradient with central differences, for each parameter tensor along the gradient
/// itself and along a random direction. Inputs and targets are random.
///
/// The step of each difference is the one, out of a ladder, whose result agrees best with that of half of it:
/// larger steps cross kinks, smaller ones drown in float32's rounding. Errors are relative to the derivative
/// along the gradient, so that directions in which nothing changes do not divide by zero.
[[nodiscard]] Result<GradientCheck> check_gradient(Trainer& trainer, std::vector<float> theta,
                                                   std::size_t batch, std::uint64_t seed);

}  // namespace aflguard::models
