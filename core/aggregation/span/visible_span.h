#pragma once

#include <vector>

#include "core/aggregation/vectors/small_matrix.h"

namespace aflguard {

/// How far an honest client's label mixture may go.
struct MixtureLimits {
  double largest = 5;      ///< a class weighs at most min(1, largest / C)
  double negative = 0.05;  ///< and at least -negative times that
  double mass = 1.5;       ///< sum of |weights|
};

/// What was found of an update within the span of the class updates s_c.
struct VisiblePart {
  std::vector<double> projection;  ///< p: sum p_c s_c is the orthogonal projection onto the span
  std::vector<double> mixture;     ///< pi: ridge least squares, clipped
  bool clipped = false;            ///< some weight was out of its range
  bool scaled = false;             ///< the mass was
};

/// The span of the trusted set's class updates, known by their Gram matrix alone.
class VisibleSpan final {
 public:
  VisibleSpan() = default;
  /// Eigenvalues under 1e-6 of the largest count as zero; the ridge is 1e-3 of the mean diagonal.
  explicit VisibleSpan(SmallMatrix gram);

  [[nodiscard]] const SmallMatrix& gram() const { return gram_; }
  /// False when some class update was not finite: nothing can be compared with it.
  [[nodiscard]] bool usable() const { return usable_; }
  /// `products`: inner products of the update with every class update.
  [[nodiscard]] VisiblePart part(const std::vector<double>& products, const MixtureLimits& limits) const;
  /// The cosine between what was seen and the part of it that adds classes instead of taking them away; 0 to
  /// 1. An honest client's is near 1: its batch can hold samples of a class, not a negative number of them.
  [[nodiscard]] double honesty(const VisiblePart& part) const;
  /// The root mean square of the class updates' lengths.
  [[nodiscard]] double typical_length() const { return typical_length_; }
  /// ||sum weights_c s_c||^2
  [[nodiscard]] double squared_length(const std::vector<double>& weights) const;

 private:
  SmallMatrix gram_;
  SmallMatrix projector_;  ///< pseudo-inverse of the Gram matrix
  SmallMatrix ridge_;      ///< (G + ridge)^-1
  double typical_length_ = 0;
  bool usable_ = true;  ///< no classes: nothing is visible
};

}  // namespace aflguard
