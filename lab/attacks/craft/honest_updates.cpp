#include "lab/attacks/craft/honest_updates.h"

#include <algorithm>
#include <cmath>

namespace aflguard::lab {

Result<std::span<const std::vector<float>>> HonestUpdates::look(AttackerView& view, std::size_t dimension) {
  const std::size_t devices = sample_ ? std::min(*sample_, view.honest_devices()) : 0;
  if (devices == 0) {  // on a device, and where every device is malicious
    if (updates_.size() < kOwn) updates_.emplace_back();
    std::vector<float>& own = updates_[next_ % updates_.size()];
    next_ = (next_ + 1) % kOwn;
    own.resize(dimension);
    TRY_STATUS(view.own_update(own));
    return std::span<const std::vector<float>>(updates_);
  }
  updates_.resize(devices);
  const auto drawn = view.random().sample_without_replacement(view.honest_devices(), devices);
  for (std::size_t i = 0; i < devices; ++i) {
    updates_[i].resize(dimension);
    TRY_STATUS(view.honest_answer(drawn[i], updates_[i]));
  }
  return std::span<const std::vector<float>>(updates_);
}

Moments moments_of(std::span<const std::vector<float>> updates) {
  const std::size_t dimension = updates.front().size();
  Moments moments{std::vector<double>(dimension), std::vector<double>(dimension)};
  const auto count = static_cast<double>(updates.size());
  for (const std::vector<float>& update : updates) {
    for (std::size_t i = 0; i < dimension; ++i) {
      const auto value = static_cast<double>(update[i]);
      moments.mean[i] += value / count;
      moments.deviation[i] += value * value / count;
    }
  }
  for (std::size_t i = 0; i < dimension; ++i) {
    const double variance = moments.deviation[i] - moments.mean[i] * moments.mean[i];
    moments.deviation[i] = std::sqrt(std::max(0.0, variance));
  }
  return moments;
}

double length_of(std::span<const double> vector) {
  double squares = 0;
  for (const double value : vector) squares += value * value;
  return std::sqrt(squares);
}

}  // namespace aflguard::lab
