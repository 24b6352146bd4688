#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace aflguard {

/// The numbers that a published model may have: multiples of a power of two for each block of 64 parameters,
/// far below what one update moves them. Two models on one grid differ by small whole steps, which take few
/// bytes, and rounding never adds up: each model is rounded by itself.
class ModelGrid final {
 public:
  /// Steps per one update's movement (root mean square in the block).
  static constexpr double kStepsPerUpdate = 4;

  /// Fitted to what `updates` updates (at least 1) moved, from `older` to `newer`. A block that stood still
  /// gets the finest step of the others; where nothing moved, nothing is rounded.
  ModelGrid(std::span<const float> older, std::span<const float> newer, std::uint64_t updates);

  /// The nearest model on the grid; a parameter too large for its step stays as it is.
  [[nodiscard]] std::vector<float> rounded(std::span<const float> model) const;
  /// Of a block: a power of two, or 0 when nothing is rounded.
  [[nodiscard]] float step(std::size_t block) const { return block < steps_.size() ? steps_[block] : 0; }

 private:
  std::vector<float> steps_;  ///< of each block, powers of two; 0: not rounded
};

}  // namespace aflguard
