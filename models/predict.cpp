#include "models/predict.h"

#include <algorithm>

namespace aflguard::models {

Result<std::vector<float>> predict(Trainer& trainer, std::span<const float> theta, const Samples& samples,
                                   std::size_t at_once) {
  const ModelDescription& model = trainer.model();
  std::vector<float> outputs(samples.count * model.output_size());
  if (at_once == 0) at_once = samples.count;
  for (std::size_t first = 0; first < samples.count; first += at_once) {
    const std::size_t count = std::min(at_once, samples.count - first);
    const auto features =
        std::span(samples.features).subspan(first * model.input_size(), count * model.input_size());
    const auto place = std::span(outputs).subspan(first * model.output_size(), count * model.output_size());
    TRY_STATUS(trainer.predict(theta, features, count, place));
  }
  return outputs;
}

}  // namespace aflguard::models
