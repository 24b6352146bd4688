#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/aggregation/aligned_vector.h"
#include "core/base/result.h"
#include "core/learning/dataset.h"
#include "core/learning/trainer.h"

namespace aflguard {

/// What the gateway itself would send: the update computed on its trusted samples.
struct ReferenceUpdate {
  std::uint64_t version = 0;  ///< of the model it was computed on
  AlignedFloats vector;       ///< g_s: SUM of per-sample gradients over all trusted samples
  double norm = 0;            ///< ||g_s||, computed once
  /// For filters that look at classes apart: sums over the trusted samples of each class. Empty unless
  /// asked for.
  std::vector<AlignedFloats> per_class;
};

/// Computes reference updates. Behind an interface because a gateway may compute them elsewhere.
class ReferenceSource {
 public:
  virtual ~ReferenceSource() = default;

  /// Overwrites `reference` (its memory is reused) with the update at `parameters`.
  [[nodiscard]] virtual Status compute(std::span<const float> parameters, std::uint64_t version,
                                       ReferenceUpdate& reference) = 0;
};

/// The reference of a trusted data set, through a Trainer.
class TrustedSetReference final : public ReferenceSource {
 public:
  /// Borrows both. `sample_weight` as in summed_gradient().
  TrustedSetReference(Trainer& trainer, const Dataset& trusted, double sample_weight = 1);

  [[nodiscard]] Status compute(std::span<const float> parameters, std::uint64_t version,
                               ReferenceUpdate& reference) override;

 private:
  Trainer& trainer_;
  BatchBuffer buffer_;
  Batch batch_;
  double sample_weight_;
};

}  // namespace aflguard
