#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "lab/attacks/craft/attacker_view.h"

namespace aflguard::lab {

/// The honest updates that an attacker compares its own with. In the lab: fresh ones of some honest devices,
/// drawn at random every turn. On a live device, which sees none of these: its own latest ones.
class HonestUpdates final {
 public:
  /// Updates that a device keeps.
  static constexpr std::size_t kOwn = 8;

  /// `sample`: honest devices per turn; nothing: the device's own.
  explicit HonestUpdates(std::optional<std::size_t> sample) : sample_(sample) {}

  /// Those of this turn, at least one, `dimension` numbers each; they live until the next call.
  [[nodiscard]] Result<std::span<const std::vector<float>>> look(AttackerView& view, std::size_t dimension);

 private:
  std::optional<std::size_t> sample_;
  std::size_t next_ = 0;  ///< place of the device's next own update
  std::vector<std::vector<float>> updates_;
};

/// Coordinate by coordinate.
struct Moments {
  std::vector<double> mean;
  std::vector<double> deviation;
};
[[nodiscard]] Moments moments_of(std::span<const std::vector<float>> updates);

/// sqrt(sum v_i^2)
[[nodiscard]] double length_of(std::span<const double> vector);

}  // namespace aflguard::lab
