#include "core/learning/summed_gradient.h"

namespace aflguard {

Result<float> summed_gradient(Trainer& trainer, std::span<const float> parameters, const Batch& batch,
                              double sample_weight, std::span<float> sum) {
  TRY(const float loss, trainer.gradient(parameters, batch, sum));
  const auto factor = static_cast<float>(sample_weight * static_cast<double>(batch.size));
  for (float& coordinate : sum) coordinate *= factor;
  return loss;
}

}  // namespace aflguard
