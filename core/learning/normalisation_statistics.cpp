#include "core/learning/normalisation_statistics.h"

#include <algorithm>

namespace aflguard {
namespace {

constexpr std::size_t kSamplesAtOnce = 256;  // samples in one batch: bounds memory

}  // namespace

std::vector<float> calibration_features(const Dataset& data, std::size_t most) {
  const std::size_t count = std::min(data.size(), most);
  const std::size_t width = data.sample_size();
  std::vector<float> features(count * width);
  for (std::size_t i = 0; i < count; ++i) {
    data.copy_features(i * data.size() / count, std::span(features).subspan(i * width, width));
  }
  return features;
}

Result<std::vector<float>> measure_statistics(Trainer& trainer, std::span<const float> theta,
                                              std::span<const float> features) {
  const std::size_t size = trainer.model().statistics;
  if (size == 0) return std::vector<float>();
  const std::size_t width = trainer.model().input_size();
  const std::size_t samples = features.size() / width;
  if (samples < 2) {
    return invalid_input("model '" + trainer.model().name + "' normalises by statistics of samples, and " +
                         std::to_string(samples) + " were given; a few hundred are needed");
  }
  // Every batch counts by its samples. By how much the means of such large batches differ, which is a part of
  // the variance too, is below what a prediction shows.
  std::vector<double> sums(size);
  std::vector<float> part(size);
  for (std::size_t first = 0; first < samples; first += kSamplesAtOnce) {
    const std::size_t count = std::min(kSamplesAtOnce, samples - first);
    TRY_STATUS(
        trainer.measure_statistics(theta, features.subspan(first * width, count * width), count, part));
    for (std::size_t i = 0; i < size; ++i)
      sums[i] += static_cast<double>(part[i]) * static_cast<double>(count);
  }
  std::vector<float> statistics(size);
  for (std::size_t i = 0; i < size; ++i) {
    statistics[i] = static_cast<float>(sums[i] / static_cast<double>(samples));
  }
  return statistics;
}

}  // namespace aflguard
