#include "lab/runs/all_knowing_view.h"

#include <algorithm>
#include <cmath>

namespace aflguard::lab {

Status AllKnowingView::own_update(std::span<float> update) {
  return clients_.update_of(client, base_model, random_, update);
}

Status AllKnowingView::false_update(const Lie& lie, std::span<float> update) {
  const Batch honest = clients_.draw_batch(client, random_);
  FalseBatch batch;
  batch.size = honest.size;
  batch.features.assign(honest.features.begin(), honest.features.end());
  batch.labels.assign(honest.labels.begin(), honest.labels.end());
  batch.values.assign(honest.values.begin(), honest.values.end());
  batch.sample_shape = clients_.train().sample_shape;
  batch.classes = clients_.train().classes;
  lie(batch);
  return update_on({batch.size, batch.features, batch.labels, batch.values}, update);
}

Status AllKnowingView::update_on(const Batch& batch, std::span<float> update) {
  return clients_.update_on(batch, base_model, update);
}

Status AllKnowingView::honest_updates(std::size_t devices, std::span<float> mean,
                                      std::span<float> deviation) {
  const std::size_t count = std::min(devices, honest_.size());
  if (count == 0) return own_update(mean);  // all are malicious: its own data must do
  std::vector<double> sum(mean.size());
  std::vector<double> squares(deviation.size());
  for (const std::size_t chosen : random_.sample_without_replacement(honest_.size(), count)) {
    TRY_STATUS(clients_.update_of(honest_[chosen], base_model, random_, mean));
    for (std::size_t i = 0; i < mean.size(); ++i) sum[i] += mean[i];
    for (std::size_t i = 0; i < deviation.size(); ++i) {
      squares[i] += static_cast<double>(mean[i]) * static_cast<double>(mean[i]);
    }
  }
  const auto n = static_cast<double>(count);
  for (std::size_t i = 0; i < mean.size(); ++i) mean[i] = static_cast<float>(sum[i] / n);
  for (std::size_t i = 0; i < deviation.size(); ++i) {
    const double average = sum[i] / n;
    deviation[i] = static_cast<float>(std::sqrt(std::max(0.0, squares[i] / n - average * average)));
  }
  return {};
}

Status AllKnowingView::honest_answer(std::size_t which, std::span<float> update) {
  return clients_.update_of(honest_[which], base_model, random_, update);
}

}  // namespace aflguard::lab
