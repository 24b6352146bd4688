#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "core/aggregation/vectors/aligned_vector.h"
#include "core/aggregation/vectors/row_bundle.h"
#include "core/aggregation/vectors/small_matrix.h"
#include "core/base/result.h"
#include "core/learning/data/dataset.h"
#include "core/learning/trainer.h"

namespace aflguard {

/// What the gateway itself would send: the update computed on its trusted samples.
struct ReferenceUpdate {
  std::uint64_t version = 0;  ///< of the model it was computed on
  AlignedFloats vector;       ///< g_s: SUM of per-sample gradients over all trusted samples
  double norm = 0;            ///< ||g_s||, computed once
  /// For guards that look at classes apart, one row per class that the trusted set has: what a whole batch
  /// of trusted samples of that class would send. Regression is one class. Empty unless asked for.
  RowBundle per_class;
  SmallMatrix gram;  ///< inner products of these rows

  /// Mean loss of the trusted samples at that model; not a number where it is not known. Decides nothing.
  double loss = std::numeric_limits<double>::quiet_NaN();

  /// Fills norm and gram, which follow from the rest.
  void derive();
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
  /// Borrows the trainer. `sample_weight` as in summed_gradient(). `class_batch`: samples in a client's
  /// batch, for references per class; 0: without them.
  TrustedSetReference(Trainer& trainer, const Dataset& trusted, double sample_weight = 1,
                      std::size_t class_batch = 0);

  [[nodiscard]] Status compute(std::span<const float> parameters, std::uint64_t version,
                               ReferenceUpdate& reference) override;

 private:
  /// Samples whose gradients are summed at once: all of them, or those of one class.
  struct Part {
    BatchBuffer buffer;
    Batch batch;
  };
  Trainer& trainer_;
  std::vector<std::unique_ptr<Part>> parts_;
  double sample_weight_;
  std::size_t class_batch_;
  std::vector<float> sum_;
};

}  // namespace aflguard
