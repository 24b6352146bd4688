#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/aggregation/vectors/aligned_vector.h"

namespace aflguard {

/// The global model's parameters and its latest versions. A version is one change of the parameters.
/// The next version is written beside the current one and becomes current only when committed, so judging
/// and applying an update can be one pass over memory, and a rejected update leaves no trace.
class GlobalModel final {
 public:
  /// Version `version` with parameters `initial` (finite). Keeps the `history` versions before the current
  /// one readable; memory is (history + 2) * d floats.
  GlobalModel(std::span<const float> initial, std::size_t history, std::uint64_t version = 0);

  [[nodiscard]] std::size_t dimension() const { return slots_.front().size(); }
  [[nodiscard]] std::size_t history() const { return slots_.size() - 2; }
  [[nodiscard]] std::uint64_t version() const { return version_; }
  [[nodiscard]] std::span<const float> parameters() const { return slot(version_); }

  /// Parameters of an earlier version, or an empty span when it is not kept (any more, or yet).
  [[nodiscard]] std::span<const float> at(std::uint64_t version) const;
  /// The oldest version that at() still knows.
  [[nodiscard]] std::uint64_t oldest() const { return version_ - kept_; }

  /// Where the next version is written; its content means nothing until commit().
  [[nodiscard]] std::span<float> next() { return slot(version_ + 1); }

  /// True when no coordinate can leave float's range if each moves by at most `largest_change`.
  /// False for NaN.
  [[nodiscard]] bool can_move_by(double largest_change);

  /// next() becomes the current version; `largest_change` as given to can_move_by().
  void commit(double largest_change);

  /// Replaces everything: for restoring a stored model. Older versions are forgotten.
  void reset(std::span<const float> parameters, std::uint64_t version);

  /// Puts a version before the oldest one back, for restoring; false when there is no room for it.
  [[nodiscard]] bool prepend(std::span<const float> parameters);

 private:
  [[nodiscard]] std::span<float> slot(std::uint64_t version) { return slots_[version % slots_.size()]; }
  [[nodiscard]] std::span<const float> slot(std::uint64_t version) const {
    return slots_[version % slots_.size()];
  }

  std::vector<AlignedFloats> slots_;
  std::uint64_t version_;
  std::uint64_t kept_ = 0;    ///< versions before the current one that are readable
  double largest_magnitude_;  ///< no coordinate is larger; grows by each step until measured again
};

}  // namespace aflguard
