#include "core/learning/trainer.h"

namespace aflguard {

Status Trainer::measure_statistics(std::span<const float>, std::span<const float>, std::size_t,
                                   std::span<float>) {
  return unsupported("this trainer measures no statistics of model '" + model().name + "'");
}

Status Trainer::predict_with(std::span<const float>, std::span<const float>, std::span<const float>,
                             std::size_t, std::span<float>) {
  return unsupported("this trainer predicts without statistics of model '" + model().name + "'");
}

}  // namespace aflguard
