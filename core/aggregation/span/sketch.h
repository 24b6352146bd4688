#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/aggregation/vectors/row_bundle.h"

namespace aflguard {

/// Sketches of residuals o = g - sum projection_c s_c, from sketches of g and of the class updates.
///
/// Who knows the key can build a residual that the sketch does not see. It comes from the first reference
/// update, so it is as secret as the trusted samples are.
class ResidualSketcher final {
 public:
  /// Takes in class updates that have changed; the first ones choose the key.
  void meet(const RowBundle& classes);
  [[nodiscard]] std::vector<float> residual(std::span<const float> update,
                                            const std::vector<double>& projection) const;
  [[nodiscard]] std::uint64_t key() const { return key_; }
  /// Of saved state; the next meet() does not choose another one. 0: not chosen yet.
  void set_key(std::uint64_t key) { key_ = key; }

 private:
  std::uint64_t key_ = 0;
  std::vector<std::vector<float>> classes_;
};

}  // namespace aflguard
