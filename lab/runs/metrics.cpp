#include "lab/runs/metrics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/check.h"
#include "core/learning/evaluation.h"
#include "lab/attacks/craft/trigger.h"

namespace aflguard::lab {

Result<double> attack_success(Trainer& trainer, std::span<const float> theta, const Dataset& test,
                              std::int64_t target) {
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < test.size(); ++i) {
    if (test.labels[i] != target) others.push_back(i);
  }
  std::size_t fooled = 0;
  TRY_STATUS(for_each_prediction(
      trainer, theta, test, others, [&](std::span<float> sample) { put_trigger(test.sample_shape, sample); },
      [&](std::size_t, std::span<const float> scores) {
        fooled += predicted_class(scores) == target ? 1 : 0;
      }));
  return static_cast<double>(fooled) / static_cast<double>(std::max<std::size_t>(1, others.size()));
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
