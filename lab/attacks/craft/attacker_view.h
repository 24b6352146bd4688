#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/aggregation/client_update.h"
#include "core/aggregation/guard.h"
#include "core/aggregation/reference_update.h"
#include "core/base/random.h"
#include "core/base/result.h"
#include "core/learning/data/dataset.h"

namespace aflguard::lab {

/// A mini-batch of a device's own samples, for an attack to change before the honest arithmetic sees it.
struct FalseBatch {
  std::size_t size = 0;                   ///< samples; may be changed, with everything below
  std::vector<float> features;            ///< row-major [size, shape...]
  std::vector<std::int64_t> labels;       ///< classification: one class per sample
  std::vector<float> values;              ///< regression: one value per sample
  std::vector<std::size_t> sample_shape;  ///< of one sample
  std::size_t classes = 0;                ///< 0 for regression
};
using Lie = std::function<void(FalseBatch& batch)>;

/// What an attacker sees and can compute when one of its devices has to answer a model. In the lab it knows
/// everything. A live device knows its own samples, the model that it was sent and, if they leaked, the
/// trusted samples: AttackNeeds says what an attack cannot do without.
class AttackerView {
 public:
  virtual ~AttackerView() = default;

  ClientId client = 0;                         ///< whose turn it is
  std::size_t batch_size = 0;                  ///< of an honest update
  std::uint64_t iteration = 0;                 ///< t; 0 on a live device
  std::uint64_t reference_age = 0;             ///< updates since the reference was due; 0 on a live device
  std::span<const float> base_model;           ///< what the device was sent, and answers
  std::span<const float> newest_model;         ///< theta^t; empty on a live device
  float rate = 0;                              ///< eta
  const ReferenceUpdate* reference = nullptr;  ///< g_s; null unless the attack needs it and it is known
  const Guard* guard = nullptr;                ///< its rule and state; null unless the attack needs it
  /// What devices do not see of the gateway's model: its parameters less those that are published. Empty
  /// unless the attack needs it and models lie on a grid.
  std::span<const float> hidden;

  /// For everything that the attack draws.
  [[nodiscard]] virtual Random& random() = 0;
  /// The samples that it knows: every client's in the lab, its own on a live device.
  [[nodiscard]] virtual Result<const Dataset*> samples() = 0;

  /// What this device would send if it were honest: computed on a fresh mini-batch from its own samples.
  [[nodiscard]] virtual Status own_update(std::span<float> update) = 0;
  /// The same after `lie` has changed the mini-batch.
  [[nodiscard]] virtual Status false_update(const Lie& lie, std::span<float> update) = 0;
  /// What an honest device would send for these samples.
  [[nodiscard]] virtual Status update_on(const Batch& batch, std::span<float> update) = 0;
  /// Coordinate-wise mean, and standard deviation if wanted (else empty), of fresh updates from `devices`
  /// randomly drawn honest devices. AttackNeeds::honest_updates.
  [[nodiscard]] virtual Status honest_updates(std::size_t devices, std::span<float> mean,
                                              std::span<float> deviation) = 0;
  /// How many honest devices there are; 0 where that is not known.
  [[nodiscard]] virtual std::size_t honest_devices() const { return 0; }
  /// A fresh update of one of them, `which` < honest_devices(). AttackNeeds::honest_updates.
  [[nodiscard]] virtual Status honest_answer(std::size_t which, std::span<float> update) = 0;
};

}  // namespace aflguard::lab
