#pragma once

#include "core/aggregation/guard_state.h"
#include "core/aggregation/vectors/row_bundle.h"
#include "core/aggregation/vectors/small_matrix.h"

namespace aflguard {

/// W: the few orthonormal directions in which residuals differ most, the top of a discounted second moment
/// that takes in one residual at a time (incremental SVD). The vectors live here; the pass over them that a
/// new residual costs is the caller's, who fuses it with the model's step.
class WatchedDirections final {
 public:
  WatchedDirections() = default;
  WatchedDirections(std::size_t directions, std::size_t dimension, double discount);

  /// How the directions turn when a residual x enters.
  struct Turn {
    SmallMatrix rotation;            ///< what it does to a vector within W: new components out of old ones
    SmallMatrix change;              ///< new direction k = sum change(k, j) old_j + enter[k] x
    std::vector<double> enter;       ///< see change
    SmallMatrix stored;              ///< the same as change, for the rows as they are stored
    std::vector<double> components;  ///< of x along the new directions
    std::vector<double> strengths;
    bool learning = false;  ///< there are fewer than K directions: x became one of them
  };

  [[nodiscard]] std::size_t size() const { return strengths_.size(); }
  [[nodiscard]] std::size_t rank() const { return rank_; }
  [[nodiscard]] const RowBundle& rows() const { return rows_; }
  [[nodiscard]] RowBundle& rows() { return rows_; }
  /// (K x C) inner products of the directions with the class updates.
  [[nodiscard]] const SmallMatrix& shadow() const { return shadow_; }

  /// One pass: inner products with new class updates, and the loss of orthonormality that rounding brought.
  void meet(const RowBundle& classes);
  /// meet() is due again, if only because many turns have rounded.
  [[nodiscard]] bool worn() const { return turns_ >= kTurnsUntilWorn; }

  /// Components along the directions of o = g - sum projection_c s_c, out of the rows' products with g.
  [[nodiscard]] std::vector<double> components(const std::vector<double>& products,
                                               const std::vector<double>& projection) const;
  /// What the directions become when x enters, of these components and this squared length.
  [[nodiscard]] Turn turn(const std::vector<double>& components, double squared_length) const;
  /// The caller has turned the rows; `class_products`: the class updates' inner products with x.
  void turned(const Turn& turn, const std::vector<double>& class_products);

  void save(StateWriter& state) const;
  [[nodiscard]] Status restore(StateReader& state);

 private:
  static constexpr std::uint64_t kTurnsUntilWorn = 64;
  [[nodiscard]] Turn learn(const std::vector<double>& components, double squared_length) const;

  RowBundle rows_;  ///< rows from rank_ on are zero
  double discount_ = 0.99;
  std::size_t rank_ = 0;
  std::vector<double> strengths_;  ///< eigenvalues of the second moment
  SmallMatrix mend_;               ///< makes the stored rows orthonormal: W = mend * rows
  SmallMatrix shadow_;
  std::uint64_t turns_ = 0;  ///< since meet()
};

}  // namespace aflguard
