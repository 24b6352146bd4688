#pragma once

#include <span>

#include "core/base/result.h"
#include "core/learning/data/batch.h"
#include "core/learning/model_description.h"

namespace aflguard {

/// Computes with a model whose parameters are one flat vector. Not thread-safe: one Trainer per thread.
class Trainer {
 public:
  virtual ~Trainer() = default;

  [[nodiscard]] virtual const ModelDescription& model() const = 0;

  /// Mean loss over the batch; writes the gradient of that mean into `gradient` (dimension() floats).
  /// kInvalidInput, naming sizes, when theta, batch or gradient do not fit the model or a label is not a
  /// class.
  [[nodiscard]] virtual Result<float> gradient(std::span<const float> theta, const Batch& batch,
                                               std::span<float> gradient) = 0;

  /// Writes `count` * output_size() floats: class scores (logits) or predicted values.
  [[nodiscard]] virtual Status predict(std::span<const float> theta, std::span<const float> features,
                                       std::size_t count, std::span<float> outputs) = 0;

  /// The statistics of normalisations over this batch, model().statistics numbers.
  [[nodiscard]] virtual Status measure_statistics(std::span<const float> theta,
                                                  std::span<const float> features, std::size_t count,
                                                  std::span<float> statistics);

  /// As predict(), with given statistics: what stands beside a sample in the batch does not matter.
  [[nodiscard]] virtual Status predict_with(std::span<const float> theta, std::span<const float> statistics,
                                            std::span<const float> features, std::size_t count,
                                            std::span<float> outputs);
};

}  // namespace aflguard
