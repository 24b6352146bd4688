#pragma once

#include <cstddef>
#include <vector>

#include "core/learning/data/dataset.h"

namespace aflguard::edge {

/// Which samples a board does not train on, but measures the model with. A sample's own numbers decide: it
/// stays on its side over restarts, in a table that grows, and equal samples are never on both.
class HeldBack final {
 public:
  /// `share`: 0 (no sample) to below 1.
  explicit HeldBack(double share = 0) : share_(share) {}

  [[nodiscard]] bool none() const { return share_ <= 0; }
  [[nodiscard]] double share() const { return share_; }
  [[nodiscard]] bool holds(const Dataset& data, std::size_t index) const;
  /// Indices of those among `data`, from its end on, at most `most`.
  [[nodiscard]] std::vector<std::size_t> newest(const Dataset& data, std::size_t most) const;

 private:
  double share_;
};

}  // namespace aflguard::edge
