#pragma once

#include <memory>
#include <vector>

#include "core/learning/trainer.h"
#include "lab/runs/experiment.h"

namespace aflguard::testing {
using namespace lab;

/// Linear regression without intercept and mean squared error, in plain loops: independent of the product's
/// own way to compute it.
class LinearTrainer final : public Trainer {
 public:
  explicit LinearTrainer(std::size_t features) {
    model_.name = "linear";
    model_.parameters = {{"w", {features, 1}, 0, Initializer::kZero, 0}};
    model_.input_shape = {features};
    model_.output_shape = {1};
    model_.loss = Loss::kMeanSquaredError;
  }

  [[nodiscard]] const ModelDescription& model() const override { return model_; }

  [[nodiscard]] Result<float> gradient(std::span<const float> theta, const Batch& batch,
                                       std::span<float> gradient) override {
    std::vector<double> sum(theta.size());
    double loss = 0;
    for (std::size_t i = 0; i < batch.size; ++i) {
      const auto u = batch.features.subspan(i * theta.size(), theta.size());
      const double residual = dot(u, theta) - static_cast<double>(batch.values[i]);
      loss += residual * residual;
      for (std::size_t j = 0; j < theta.size(); ++j) sum[j] += 2 * residual * static_cast<double>(u[j]);
    }
    const auto count = static_cast<double>(batch.size);
    for (std::size_t j = 0; j < theta.size(); ++j) gradient[j] = static_cast<float>(sum[j] / count);
    return static_cast<float>(loss / count);
  }

  [[nodiscard]] Status predict(std::span<const float> theta, std::span<const float> features,
                               std::size_t count, std::span<float> outputs) override {
    for (std::size_t i = 0; i < count; ++i) {
      outputs[i] = static_cast<float>(dot(features.subspan(i * theta.size(), theta.size()), theta));
    }
    return {};
  }

 private:
  static double dot(std::span<const float> a, std::span<const float> b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return sum;
  }
  ModelDescription model_;
};

inline lab::ModelSource linear_model(std::size_t features = 100) {
  return {[features]() -> Result<std::unique_ptr<Trainer>> {
            return std::unique_ptr<Trainer>(std::make_unique<LinearTrainer>(features));
          },
          [features](std::uint64_t) -> Result<std::vector<float>> { return std::vector<float>(features); }};
}

}  // namespace aflguard::testing
