#include "edge_client/training/gradient_training.h"

#include <algorithm>
#include <cmath>

#include "core/learning/summed_gradient.h"

namespace aflguard::edge {

GradientTraining::GradientTraining(Trainer& trainer, SampleSource& source, std::uint64_t seed,
                                   const HeldBack& held_back)
    : trainer_(trainer), source_(source), held_back_(held_back), random_(seed) {}

std::vector<std::size_t> GradientTraining::draw(const Dataset& data, std::size_t size) {
  // As many more as are held back of them on average, and twice as many where those were too few.
  double more = 1 / (1 - held_back_.share());
  while (true) {
    const auto wanted = static_cast<std::size_t>(std::ceil(static_cast<double>(size) * more));
    const std::size_t drawn = std::min(wanted, data.size());
    std::vector<std::size_t> indices = random_.sample_without_replacement(data.size(), drawn);
    std::erase_if(indices, [&](std::size_t index) { return held_back_.holds(data, index); });
    if (indices.size() >= size || drawn == data.size()) {
      indices.resize(std::min(size, indices.size()));
      return indices;
    }
    more *= 2;
  }
}

Result<float> GradientTraining::step(std::span<const float> parameters, const Dataset& data,
                                     std::uint32_t batch_size, std::uint64_t& samples) {
  const auto indices = draw(data, std::min<std::size_t>(batch_size, data.size()));
  if (indices.empty()) return unavailable("every sample of " + data.name + " is held back");
  samples += indices.size();
  const Batch batch = buffer_.gather(data, indices);
  gradient_.resize(parameters.size());
  return summed_gradient(trainer_, parameters, batch, 1, gradient_);
}

Result<TrainedUpdate> GradientTraining::train(const ModelMessage& model, const KeepGoing& keep_going) {
  TRY(const Dataset* data, source_.samples());
  TrainedUpdate update;
  if (model.local_steps == 1) {
    TRY(update.loss, step(model.vector, *data, model.batch_size, update.samples));
    update.vector.swap(gradient_);
    return update;
  }
  std::vector<float> local = model.vector;
  const auto rate = static_cast<float>(model.learning_rate);
  for (std::uint32_t i = 0; i < model.local_steps; ++i) {
    if (i > 0 && !keep_going()) return unavailable("training was ended early");
    TRY(update.loss, step(local, *data, model.batch_size, update.samples));
    for (std::size_t j = 0; j < local.size(); ++j) local[j] -= rate * gradient_[j];
  }
  update.vector.resize(local.size());
  for (std::size_t j = 0; j < local.size(); ++j) update.vector[j] = (model.vector[j] - local[j]) / rate;
  return update;
}

}  // namespace aflguard::edge
