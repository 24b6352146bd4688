#include "core/learning/evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace aflguard {
namespace {

constexpr std::size_t kChunk = 250;  // samples per prediction: bounds memory, amortises the call

std::vector<std::size_t> first_of(const Dataset& data, std::size_t limit) {
  std::vector<std::size_t> indices(std::min(limit, data.size()));
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return indices;
}

}  // namespace

Status for_each_prediction(Trainer& trainer, std::span<const float> theta, const Dataset& test,
                           std::span<const std::size_t> indices,
                           const std::function<void(std::span<float>)>& prepare,
                           const std::function<void(std::size_t, std::span<const float>)>& visit,
                           std::span<const float> statistics) {
  const std::size_t width = test.sample_size();
  const std::size_t outputs = trainer.model().output_size();
  std::vector<float> features;
  std::vector<float> predicted;
  for (std::size_t first = 0; first < indices.size(); first += kChunk) {
    const std::size_t count = std::min(kChunk, indices.size() - first);
    features.resize(count * width);
    predicted.resize(count * outputs);
    for (std::size_t i = 0; i < count; ++i) {
      const std::span<float> sample = std::span(features).subspan(i * width, width);
      test.copy_features(indices[first + i], sample);
      if (prepare) prepare(sample);
    }
    TRY_STATUS(statistics.empty() ? trainer.predict(theta, features, count, predicted)
                                  : trainer.predict_with(theta, statistics, features, count, predicted));
    for (std::size_t i = 0; i < count; ++i) {
      visit(indices[first + i], std::span<const float>(predicted).subspan(i * outputs, outputs));
    }
  }
  return {};
}

std::int64_t predicted_class(std::span<const float> scores) {
  std::int64_t best = 0;
  float highest = -std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] > highest) {
      highest = scores[i];
      best = static_cast<std::int64_t>(i);
    }
  }
  return best;
}

Result<double> test_error(Trainer& trainer, std::span<const float> theta, const Dataset& test,
                          std::size_t limit, std::span<const float> statistics) {
  const std::vector<std::size_t> indices = first_of(test, limit);
  std::size_t wrong = 0;
  TRY_STATUS(for_each_prediction(
      trainer, theta, test, indices, {},
      [&](std::size_t index, std::span<const float> scores) {
        if (predicted_class(scores) != test.labels[index]) ++wrong;
      },
      statistics));
  return static_cast<double>(wrong) / static_cast<double>(std::max<std::size_t>(1, indices.size()));
}

Result<double> mean_squared_error(Trainer& trainer, std::span<const float> theta, const Dataset& test,
                                  std::size_t limit, std::span<const float> statistics) {
  const std::vector<std::size_t> indices = first_of(test, limit);
  constexpr float kLargest = std::numeric_limits<float>::max();
  double squares = 0;
  TRY_STATUS(for_each_prediction(
      trainer, theta, test, indices, {},
      [&](std::size_t index, std::span<const float> value) {
        const double predicted = static_cast<double>(std::isfinite(value[0]) ? value[0] : kLargest);
        const double residual = predicted - static_cast<double>(test.values[index]);
        squares += residual * residual;
      },
      statistics));
  return squares / static_cast<double>(std::max<std::size_t>(1, indices.size()));
}

}  // namespace aflguard
