#include "edge_client/training/gradient_training.h"

#include <algorithm>

#include "core/learning/summed_gradient.h"

namespace aflguard::edge {

GradientTraining::GradientTraining(Trainer& trainer, SampleSource& source, std::uint64_t seed)
    : trainer_(trainer), source_(source), random_(seed) {}

Result<float> GradientTraining::step(std::span<const float> parameters, const Dataset& data,
                                     std::uint32_t batch_size) {
  const std::size_t size = std::min<std::size_t>(batch_size, data.size());
  const Batch batch = buffer_.gather(data, random_.sample_without_replacement(data.size(), size));
  gradient_.resize(parameters.size());
  return summed_gradient(trainer_, parameters, batch, 1, gradient_);
}

Result<TrainedUpdate> GradientTraining::train(const ModelMessage& model, const KeepGoing& keep_going) {
  TRY(const Dataset* data, source_.samples());
  TrainedUpdate update;
  const auto batch = std::min<std::uint64_t>(model.batch_size, data->size());
  if (model.local_steps == 1) {
    TRY(update.loss, step(model.vector, *data, model.batch_size));
    update.vector.swap(gradient_);
    update.samples = batch;
    return update;
  }
  std::vector<float> local = model.vector;
  const auto rate = static_cast<float>(model.learning_rate);
  for (std::uint32_t i = 0; i < model.local_steps; ++i) {
    if (i > 0 && !keep_going()) return unavailable("training was ended early");
    TRY(update.loss, step(local, *data, model.batch_size));
    for (std::size_t j = 0; j < local.size(); ++j) local[j] -= rate * gradient_[j];
    update.samples += batch;
  }
  update.vector.resize(local.size());
  for (std::size_t j = 0; j < local.size(); ++j) update.vector[j] = (model.vector[j] - local[j]) / rate;
  return update;
}

}  // namespace aflguard::edge
