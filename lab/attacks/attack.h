#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/aggregation/client_update.h"
#include "core/aggregation/guard.h"
#include "core/aggregation/reference_update.h"
#include "core/base/named_options.h"
#include "core/base/random.h"
#include "core/base/result.h"
#include "core/learning/trainer.h"
#include "lab/tasks/experiment_data.h"
#include "lab/tasks/settings.h"

namespace aflguard::lab {

/// A full-knowledge attacker's view when one of its clients has to answer: everyone's data, the model that
/// the client was sent, and the server's current reference update.
class AttackerView final {
 public:
  /// Borrows everything for one answer. `reference` is null unless the attack asked for it.
  AttackerView(const ExperimentSettings& settings, const ExperimentData& data,
               std::span<const ClientId> benign, Trainer& trainer, double sample_weight, Random& random)
      : settings_(settings),
        data_(data),
        benign_(benign),
        trainer_(trainer),
        sample_weight_(sample_weight),
        random_(random) {}

  ClientId client = 0;                         ///< whose turn it is
  std::span<const float> base_model;           ///< theta^{t - tau}
  const ReferenceUpdate* reference = nullptr;  ///< g_s
  const Guard* guard = nullptr;                ///< its rule and state; null unless the attack asked for it
  std::uint64_t iteration = 0;                 ///< t

  [[nodiscard]] const ExperimentSettings& settings() const { return settings_; }
  [[nodiscard]] const Dataset& train() const { return *data_.train; }
  [[nodiscard]] Random& random() { return random_; }

  /// A fresh mini-batch of a client's own samples, as positions within train().
  [[nodiscard]] std::vector<std::size_t> draw_batch(ClientId client);
  /// What an honest client would send for these samples, at base_model.
  [[nodiscard]] Status update_on(const Batch& batch, std::span<float> update);
  [[nodiscard]] Status honest_update(ClientId client, std::span<float> update);
  /// Coordinate-wise mean, and standard deviation if wanted (else empty), of fresh honest updates from
  /// `clients` randomly drawn benign clients.
  [[nodiscard]] Status benign_updates(std::size_t clients, std::span<float> mean,
                                      std::span<float> deviation = {});

 private:
  const ExperimentSettings& settings_;
  const ExperimentData& data_;
  std::span<const ClientId> benign_;
  Trainer& trainer_;
  double sample_weight_;
  Random& random_;
  BatchBuffer buffer_;
};

/// What malicious clients send instead of honest updates.
class Attack {
 public:
  virtual ~Attack() = default;
  /// Fills `update` (dimension floats) with what the client sends.
  [[nodiscard]] virtual Status craft(AttackerView& view, std::span<float> update) = 0;
};

/// An attack by name. main() lists those that the program knows.
struct AttackKind {
  std::string_view name;
  std::string_view summary;
  bool targeted = false;         ///< wants a class predicted where its trigger is: classification only
  bool needs_reference = false;  ///< looks at the server's reference update
  bool needs_guard = false;      ///< looks at the guard, and at the reference if the guard does
  bool fresh_identity = false;   ///< comes under a client number that nobody has seen before, every time
  std::vector<NamedOption> options;
  std::unique_ptr<Attack> (*make)(const ExperimentSettings& settings) = nullptr;
};

/// Null for "none"; kInvalidInput, with the nearest name that exists, when there is none of that name.
[[nodiscard]] Result<const AttackKind*> find_attack(std::span<const AttackKind> kinds, std::string_view name);

}  // namespace aflguard::lab
