#include "firmware_sim/byzantine_client/device_view.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/learning/summed_gradient.h"

namespace aflguard::sim {
namespace {

double length(std::span<const float> vector) {
  double squares = 0;
  for (const float value : vector) squares += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(squares);
}

}  // namespace

Result<float> LyingTrainer::gradient(std::span<const float> parameters, const Batch& batch,
                                     std::span<float> gradient) {
  if (lie_ == nullptr) return honest_.gradient(parameters, batch, gradient);
  lab::FalseBatch changed;
  changed.size = batch.size;
  changed.features.assign(batch.features.begin(), batch.features.end());
  changed.labels.assign(batch.labels.begin(), batch.labels.end());
  changed.values.assign(batch.values.begin(), batch.values.end());
  changed.sample_shape = model().input_shape;
  changed.classes = model().classes();
  (*lie_)(changed);
  TRY(const float loss,
      honest_.gradient(parameters, {changed.size, changed.features, changed.labels, changed.values},
                       gradient));
  if (changed.size != batch.size) {  // who asks makes a sum of the mean, over as many samples as they gave
    const float share = static_cast<float>(changed.size) / static_cast<float>(batch.size);
    for (float& coordinate : gradient) coordinate *= share;
  }
  return loss;
}

Status LyingTrainer::predict(std::span<const float> parameters, std::span<const float> features,
                             std::size_t count, std::span<float> outputs) {
  return honest_.predict(parameters, features, count, outputs);
}

DeviceView::DeviceView(Trainer& trainer, edge::SampleSource& source, std::uint64_t seed)
    : trainer_(trainer), source_(source), training_(trainer_, source, seed), random_(seed, 1) {}

void DeviceView::begin(const ModelMessage& model, const edge::LocalTraining::KeepGoing& keep_going) {
  model_ = &model;
  keep_going_ = &keep_going;
  base_model = model.vector;
  rate = static_cast<float>(model.learning_rate);
  batch_size = model.batch_size;
  honest_ = false;
}

Status DeviceView::look_at(const Dataset& trusted) {
  std::vector<std::size_t> all(trusted.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  BatchBuffer buffer;
  reference_.vector.resize(model_->vector.size());
  TRY_STATUS(update_on(buffer.gather(trusted, all), reference_.vector));
  reference_.norm = length(reference_.vector);
  reference = &reference_;
  return {};
}

Status DeviceView::train() {
  if (honest_) return {};
  TRY(trained_, training_.train(*model_, *keep_going_));
  honest_ = true;
  return {};
}

Status DeviceView::own_update(std::span<float> update) {
  TRY_STATUS(train());
  std::copy(trained_.vector.begin(), trained_.vector.end(), update.begin());
  return {};
}

Status DeviceView::false_update(const lab::Lie& lie, std::span<float> update) {
  trainer_.tell(&lie);
  auto trained = training_.train(*model_, *keep_going_);
  trainer_.tell(nullptr);
  if (!trained) return trained.error();
  trained_ = std::move(trained).value();
  honest_ = false;
  std::copy(trained_.vector.begin(), trained_.vector.end(), update.begin());
  return {};
}

Status DeviceView::update_on(const Batch& batch, std::span<float> update) {
  if (auto loss = summed_gradient(trainer_, model_->vector, batch, 1, update); !loss) return loss.error();
  return {};
}

Status DeviceView::honest_updates(std::size_t /*devices*/, std::span<float> /*mean*/,
                                  std::span<float> /*deviation*/) {
  return honest_answer(0, {});
}

Status DeviceView::honest_answer(std::size_t /*which*/, std::span<float> /*update*/) {
  return invalid_input("a live device does not see the updates of the honest devices");
}

}  // namespace aflguard::sim
