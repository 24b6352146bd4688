#include "lab/metrics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "core/base/check.h"
#include "lab/trigger.h"

namespace aflguard::lab {
namespace {

constexpr std::size_t kChunk = 250;  // samples per prediction: bounds memory, amortises the call

using Prepare = std::function<void(std::span<float> sample)>;
using Visit = std::function<void(std::size_t index, std::span<const float> output)>;

/// Predicts the samples at `indices`, after `prepare` has changed each (if given), and visits every output.
Status for_each_prediction(Trainer& trainer, std::span<const float> theta, const Dataset& test,
                           const std::vector<std::size_t>& indices, const Prepare& prepare,
                           const Visit& visit) {
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
    TRY_STATUS(trainer.predict(theta, features, count, predicted));
    for (std::size_t i = 0; i < count; ++i) {
      visit(indices[first + i], std::span<const float>(predicted).subspan(i * outputs, outputs));
    }
  }
  return {};
}

std::vector<std::size_t> all_of(const Dataset& data) {
  std::vector<std::size_t> indices(data.size());
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = i;
  return indices;
}

std::int64_t winner(std::span<const float> scores) {
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

}  // namespace

Result<double> test_error(Trainer& trainer, std::span<const float> theta, const Dataset& test) {
  std::size_t wrong = 0;
  TRY_STATUS(for_each_prediction(trainer, theta, test, all_of(test), {},
                                 [&](std::size_t index, std::span<const float> scores) {
                                   if (winner(scores) != test.labels[index]) ++wrong;
                                 }));
  return static_cast<double>(wrong) / static_cast<double>(std::max<std::size_t>(1, test.size()));
}

Result<double> attack_success(Trainer& trainer, std::span<const float> theta, const Dataset& test,
                              std::int64_t target) {
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < test.size(); ++i) {
    if (test.labels[i] != target) others.push_back(i);
  }
  std::size_t fooled = 0;
  TRY_STATUS(for_each_prediction(
      trainer, theta, test, others, [&](std::span<float> sample) { put_trigger(test.sample_shape, sample); },
      [&](std::size_t, std::span<const float> scores) { fooled += winner(scores) == target ? 1 : 0; }));
  return static_cast<double>(fooled) / static_cast<double>(std::max<std::size_t>(1, others.size()));
}

Result<double> mean_squared_error(Trainer& trainer, std::span<const float> theta, const Dataset& test) {
  constexpr float largest = std::numeric_limits<float>::max();
  double squares = 0;
  TRY_STATUS(for_each_prediction(
      trainer, theta, test, all_of(test), {}, [&](std::size_t index, std::span<const float> value) {
        const double predicted = static_cast<double>(std::isfinite(value[0]) ? value[0] : largest);
        const double residual = predicted - static_cast<double>(test.values[index]);
        squares += residual * residual;
      }));
  return squares / static_cast<double>(std::max<std::size_t>(1, test.size()));
}

double model_estimation_error(std::span<const float> theta, std::span<const float> true_model) {
  check(theta.size() == true_model.size(), "estimation error of models of different size");
  double squares = 0;
  for (std::size_t i = 0; i < theta.size(); ++i) {
    const double difference = static_cast<double>(theta[i]) - static_cast<double>(true_model[i]);
    squares += difference * difference;
  }
  return std::sqrt(squares);
}

}  // namespace aflguard::lab
