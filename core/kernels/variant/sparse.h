#pragma once

#include "core/kernels/variant/tile.h"

namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT {

/// One or two sums of weighted rows side by side, Vectors * 8 columns each: twelve sums at most, as in
/// tile().
template <std::size_t Vectors, std::size_t Sides>
AFLGUARD_INLINE void weighted_rows(const WeightedRows& task) {
  using Lanes = typename TileLanes<Vectors % 2 == 0 ? kBlock : kHalfBlock>::Type;
  constexpr std::size_t kWide = sizeof(Lanes) / sizeof(float);
  constexpr std::size_t kAll = Vectors * 8 / kWide;
  const auto at = [](auto* numbers, std::size_t v) { return numbers + v * kWide; };
  Lanes sum[Sides][kAll];
  for (std::size_t side = 0; side < Sides; ++side) {
    for (std::size_t v = 0; v < kAll; ++v)
      sum[side][v] = *reinterpret_cast<const Lanes*>(at(task.to[side], v));
  }
  for (std::size_t i = 0; i < task.count; ++i) {
    const std::size_t offset = task.entries[i].row * task.stride;
    const float weight = task.entries[i].weight;
    for (std::size_t side = 0; side < Sides; ++side) {
      const float* row = one_base(task.rows[side] + offset);
      for (std::size_t v = 0; v < kAll; ++v)
        sum[side][v] += *reinterpret_cast<const Lanes*>(at(row, v)) * weight;
    }
  }
  for (std::size_t side = 0; side < Sides; ++side) {
    for (std::size_t v = 0; v < kAll; ++v) *reinterpret_cast<Lanes*>(at(task.to[side], v)) = sum[side][v];
  }
}

template <std::size_t Vectors>
AFLGUARD_INLINE void weighted_rows(const WeightedRows& task) {
  return task.sides == 2 ? weighted_rows<Vectors, 2>(task) : weighted_rows<Vectors, 1>(task);
}

inline void add_weighted_rows(const WeightedRows& task) {
  static_assert(kMaxSegment == 6);
  switch (task.vectors) {
    case 6:
      return weighted_rows<6>(task);
    case 5:
      return weighted_rows<5>(task);
    case 4:
      return weighted_rows<4>(task);
    case 3:
      return weighted_rows<3>(task);
    case 2:
      return weighted_rows<2>(task);
    default:
      return weighted_rows<1>(task);
  }
}

}  // namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT
