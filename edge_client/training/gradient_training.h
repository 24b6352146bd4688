#pragma once

#include "core/base/random.h"
#include "core/learning/data/dataset.h"
#include "core/learning/trainer.h"
#include "edge_client/training/held_back.h"
#include "edge_client/training/local_training.h"
#include "edge_client/training/sample_source.h"

namespace aflguard::edge {

/// Honest training. One local step: the SUM of the gradients over a mini-batch of the size that the model
/// message asks for, drawn without replacement. Several: gradient descent on a copy of the model, a new
/// mini-batch each step, and then (theta - theta_local) / learning rate.
class GradientTraining final : public LocalTraining {
 public:
  /// Trainer and source are borrowed. The same seed on the same samples draws the same batches.
  GradientTraining(Trainer& trainer, SampleSource& source, std::uint64_t seed,
                   const HeldBack& held_back = HeldBack());

  [[nodiscard]] Result<TrainedUpdate> train(const ModelMessage& model, const KeepGoing& keep_going) override;

 private:
  /// Samples that are not held back, without repetition: `size` of them, or all where there are fewer.
  [[nodiscard]] std::vector<std::size_t> draw(const Dataset& data, std::size_t size);
  /// The sum over a new mini-batch at `parameters`, in gradient_; the mean loss. `samples` grows by those of
  /// the batch.
  [[nodiscard]] Result<float> step(std::span<const float> parameters, const Dataset& data,
                                   std::uint32_t batch_size, std::uint64_t& samples);

  Trainer& trainer_;
  SampleSource& source_;
  const HeldBack held_back_;
  Random random_;
  BatchBuffer buffer_;
  std::vector<float> gradient_;
};

}  // namespace aflguard::edge
