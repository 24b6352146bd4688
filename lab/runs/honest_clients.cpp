#include "lab/runs/honest_clients.h"

#include <algorithm>

#include "core/learning/summed_gradient.h"

namespace aflguard::lab {

Batch HonestClients::draw_batch(ClientId client, Random& random) {
  const std::vector<std::size_t>& share = data_.shares[client];
  std::vector<std::size_t> batch =
      random.sample_without_replacement(share.size(), std::min(batch_size_, share.size()));
  for (std::size_t& position : batch) position = share[position];
  return buffer_.gather(train(), batch);
}

Status HonestClients::update_on(const Batch& batch, std::span<const float> model, std::span<float> update) {
  if (auto loss = summed_gradient(trainer_, model, batch, sample_weight_, update); !loss) {
    return loss.error();
  }
  return {};
}

Status HonestClients::update_of(ClientId client, std::span<const float> model, Random& random,
                                std::span<float> update) {
  return update_on(draw_batch(client, random), model, update);
}

}  // namespace aflguard::lab
