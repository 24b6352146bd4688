#include "tools/aflguard/local_training.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/random.h"

namespace aflguard::tools {
namespace {

constexpr std::size_t kEvaluationBatch = 250;
constexpr double kLossWindow = 100;

}  // namespace

Result<LocalTrainingState> train_locally(Trainer& trainer, const Dataset& data, std::span<float> theta,
                                         const LocalTrainingOptions& options,
                                         const std::function<bool(const LocalTrainingState&)>& watch) {
  const std::size_t batch_size = std::min(options.batch, data.size());
  Random random(options.seed);
  BatchBuffer buffer;
  std::vector<float> gradient(theta.size());
  LocalTrainingState state;
  const auto start = std::chrono::steady_clock::now();
  while (state.seconds < static_cast<double>(options.duration.count())) {
    const auto indices = random.sample_without_replacement(data.size(), batch_size);
    TRY(const float loss, trainer.gradient(theta, buffer.gather(data, indices), gradient));
    if (!std::isfinite(loss)) {
      return internal_error("the loss is no longer finite after " + std::to_string(state.steps) +
                            " steps; lower the rate (it is " + std::to_string(options.rate) + ")");
    }
    for (std::size_t i = 0; i < theta.size(); ++i) theta[i] -= options.rate * gradient[i];
    ++state.steps;
    const double weight = 1 / std::min(static_cast<double>(state.steps), kLossWindow);
    state.loss += weight * (static_cast<double>(loss) - state.loss);
    state.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!watch(state)) break;
  }
  return state;
}

Result<double> test_error(Trainer& trainer, std::span<const float> theta, const Dataset& data,
                          std::size_t limit) {
  const std::size_t count = std::min(limit, data.size());
  const std::size_t classes = trainer.model().output_size();
  BatchBuffer buffer;
  std::vector<float> scores;
  std::size_t wrong = 0;
  for (std::size_t first = 0; first < count; first += kEvaluationBatch) {
    std::vector<std::size_t> indices(std::min(kEvaluationBatch, count - first));
    std::iota(indices.begin(), indices.end(), first);
    const Batch batch = buffer.gather(data, indices);
    scores.resize(batch.size * classes);
    TRY_STATUS(trainer.predict(theta, batch.features, batch.size, scores));
    for (std::size_t i = 0; i < batch.size; ++i) {
      const auto row = scores.begin() + static_cast<std::ptrdiff_t>(i * classes);
      const auto best = std::max_element(row, row + static_cast<std::ptrdiff_t>(classes)) - row;
      wrong += best == batch.labels[i] ? 0 : 1;
    }
  }
  return static_cast<double>(wrong) / static_cast<double>(count);
}

}  // namespace aflguard::tools
