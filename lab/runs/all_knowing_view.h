#pragma once

#include "lab/attacks/craft/attacker_view.h"
#include "lab/runs/honest_clients.h"

namespace aflguard::lab {

/// The lab's attacker: every client's data, the model that the client was sent, and what the run puts into
/// the members: the gateway's reference update and the guard.
class AllKnowingView final : public AttackerView {
 public:
  /// Borrows everything for one answer. `honest`: the honest clients that have samples.
  AllKnowingView(HonestClients& clients, std::span<const ClientId> honest, std::span<const float> base,
                 Random& random)
      : clients_(clients), honest_(honest), random_(random) {
    batch_size = clients.batch_size();
    base_model = base;
  }

  [[nodiscard]] Random& random() override { return random_; }
  [[nodiscard]] Result<const Dataset*> samples() override { return &clients_.train(); }
  [[nodiscard]] Status own_update(std::span<float> update) override;
  [[nodiscard]] Status false_update(const Lie& lie, std::span<float> update) override;
  [[nodiscard]] Status update_on(const Batch& batch, std::span<float> update) override;
  [[nodiscard]] Status honest_updates(std::size_t devices, std::span<float> mean,
                                      std::span<float> deviation) override;
  [[nodiscard]] std::size_t honest_devices() const override { return honest_.size(); }
  [[nodiscard]] Status honest_answer(std::size_t which, std::span<float> update) override;

 private:
  HonestClients& clients_;
  std::span<const ClientId> honest_;
  Random& random_;
};

}  // namespace aflguard::lab
