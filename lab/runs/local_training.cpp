#include "lab/runs/local_training.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/random.h"

namespace aflguard::lab {
namespace {

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

}  // namespace aflguard::lab
