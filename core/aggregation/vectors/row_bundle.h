#pragma once

#include <cstddef>
#include <span>

#include "core/aggregation/vectors/aligned_vector.h"

namespace aflguard {

/// Several vectors of one length that are always read together: stored in turns, kTurn numbers of each row
/// before the next kTurn of the first, so that a pass over all of them is one stream through memory. The last
/// turn is padded with zeros.
class RowBundle final {
 public:
  static constexpr std::size_t kTurn = 16;  // a cache line of floats

  RowBundle() = default;
  /// All zero.
  RowBundle(std::size_t rows, std::size_t length)
      : rows_(rows), length_(length), numbers_(rows * turns() * kTurn) {}

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t length() const { return length_; }
  [[nodiscard]] std::size_t turns() const { return (length_ + kTurn - 1) / kTurn; }
  [[nodiscard]] float at(std::size_t row, std::size_t i) const {
    return numbers_[(i / kTurn * rows_ + row) * kTurn + i % kTurn];
  }

  void set_row(std::size_t row, std::span<const float> values);  ///< length() of them
  void copy_row(std::size_t row, std::span<float> values) const;

  /// In storage order; padding included.
  [[nodiscard]] const float* data() const { return numbers_.data(); }
  [[nodiscard]] float* data() { return numbers_.data(); }
  [[nodiscard]] bool empty() const { return rows_ == 0; }

  friend bool operator==(const RowBundle&, const RowBundle&) = default;

 private:
  std::size_t rows_ = 0;
  std::size_t length_ = 0;
  AlignedFloats numbers_;
};

}  // namespace aflguard
