#include "lab/attacks/attack.h"

#include <algorithm>
#include <cmath>

#include "core/base/nearest_name.h"
#include "core/learning/summed_gradient.h"

namespace aflguard::lab {

std::vector<std::size_t> AttackerView::draw_batch(ClientId of) {
  const std::vector<std::size_t>& share = data_.shares[of];
  std::vector<std::size_t> batch =
      random_.sample_without_replacement(share.size(), std::min(settings_.batch_size, share.size()));
  for (std::size_t& position : batch) position = share[position];
  return batch;
}

Status AttackerView::update_on(const Batch& batch, std::span<float> update) {
  if (auto loss = summed_gradient(trainer_, base_model, batch, sample_weight_, update); !loss) {
    return loss.error();
  }
  return {};
}

Status AttackerView::honest_update(ClientId of, std::span<float> update) {
  return update_on(buffer_.gather(train(), draw_batch(of)), update);
}

Status AttackerView::benign_updates(std::size_t clients, std::span<float> mean, std::span<float> deviation) {
  const std::size_t count = std::min(clients, benign_.size());
  if (count == 0) return honest_update(client, mean);  // everyone is malicious: its own data must do
  std::vector<double> sum(mean.size());
  std::vector<double> squares(deviation.size());
  for (const std::size_t chosen : random_.sample_without_replacement(benign_.size(), count)) {
    TRY_STATUS(honest_update(benign_[chosen], mean));
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

Result<const AttackKind*> find_attack(std::span<const AttackKind> kinds, std::string_view name) {
  if (name == "none") return nullptr;
  std::vector<std::string_view> names = {"none"};
  for (const AttackKind& kind : kinds) {
    if (kind.name == name) return &kind;
    names.push_back(kind.name);
  }
  return invalid_input(unknown_name("attack", name, names));
}

}  // namespace aflguard::lab
