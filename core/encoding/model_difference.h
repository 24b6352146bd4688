#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/encoding/model_grid.h"

namespace aflguard {

/// How the difference of two versions of a model is written. Sent: a value never changes its meaning.
enum class DifferenceKind : std::uint8_t {
  kBlocks = 0,  ///< blocks of 64 in steps of a grid, or of the numbers' bits
};
inline constexpr std::size_t kDifferenceKinds = 1;

/// Bytes that turn one version into another, to the bit. docs/wire-format.md describes them.
struct ModelDifference {
  DifferenceKind kind = DifferenceKind::kBlocks;
  Bytes bytes;
};

/// Both have the same length, and finite numbers. Few bytes where both lie on `grid`, which may be null; the
/// same numbers come back in any case.
[[nodiscard]] Result<ModelDifference> difference_of(std::span<const float> base, std::span<const float> model,
                                                    const ModelGrid* grid = nullptr);

/// The model behind a difference to `base`. Hostile input: its size is compared before anything is allocated,
/// and what comes out has the length of `base`. Whether it is the right model its digest says. kCorrupt.
[[nodiscard]] Result<std::vector<float>> apply_difference(DifferenceKind kind,
                                                          std::span<const std::byte> bytes,
                                                          std::span<const float> base);

}  // namespace aflguard
