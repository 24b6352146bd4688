#pragma once

#include <span>

#include "core/aggregation/client_update.h"
#include "core/base/random.h"
#include "core/base/result.h"
#include "core/learning/trainer.h"
#include "lab/tasks/experiment_data.h"

namespace aflguard::lab {

/// The arithmetic of an experiment's honest clients: the SUM of gradients over a mini-batch of their samples.
class HonestClients final {
 public:
  /// Borrows data and trainer. `sample_weight` as in summed_gradient().
  HonestClients(const ExperimentData& data, std::size_t batch_size, Trainer& trainer, double sample_weight)
      : data_(data), batch_size_(batch_size), trainer_(trainer), sample_weight_(sample_weight) {}

  [[nodiscard]] const Dataset& train() const { return *data_.train; }
  [[nodiscard]] std::size_t batch_size() const { return batch_size_; }

  /// A fresh mini-batch of the client's own samples; lives until the next call.
  [[nodiscard]] Batch draw_batch(ClientId client, Random& random);
  /// What a client that was sent `model` answers for these samples.
  [[nodiscard]] Status update_on(const Batch& batch, std::span<const float> model, std::span<float> update);
  /// ... and for its own fresh mini-batch.
  [[nodiscard]] Status update_of(ClientId client, std::span<const float> model, Random& random,
                                 std::span<float> update);

 private:
  const ExperimentData& data_;
  std::size_t batch_size_;
  Trainer& trainer_;
  double sample_weight_;
  BatchBuffer buffer_;
};

}  // namespace aflguard::lab
