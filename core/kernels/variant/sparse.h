#pragma once

#include "core/kernels/variant/tile.h"

namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT {

/// Registers of a row. A type that were deduced would lose its leave to be unaligned: Width names it.
template <std::size_t Width, std::size_t All>
using RowLanes = typename TileLanes<Width>::Type[All];

template <std::size_t Width, std::size_t All>
AFLGUARD_INLINE void load_row(RowLanes<Width, All>& row, const float* from) {
  typedef typename TileLanes<Width>::Type Lanes;
#pragma GCC unroll 12
  for (std::size_t v = 0; v < All; ++v) row[v] = reinterpret_cast<const Lanes*>(from)[v];
}
template <std::size_t Width, std::size_t All>
AFLGUARD_INLINE void store_row(const RowLanes<Width, All>& row, float* to) {
  typedef typename TileLanes<Width>::Type Lanes;
#pragma GCC unroll 12
  for (std::size_t v = 0; v < All; ++v) reinterpret_cast<Lanes*>(to)[v] = row[v];
}

/// sum += row * weight, two registers of the row at a time.
template <std::size_t Width, std::size_t All>
AFLGUARD_INLINE void add_row(RowLanes<Width, All>& sum, const float* from, float weight) {
  typedef typename TileLanes<Width>::Type Lanes;
  const Lanes* const row = reinterpret_cast<const Lanes*>(one_base(from));
#pragma GCC unroll 6
  for (std::size_t v = 0; v + 2 <= All; v += 2) {
#if defined(__aarch64__) && !defined(__clang__)
    // GCC loads one register at a time. Ump: an address that a load of a pair takes.
    Lanes one;
    Lanes other;
    asm("ldp %q0, %q1, %2" : "=w"(one), "=w"(other) : "Ump"(row[v]), "m"(row[v + 1]));
#else
    const Lanes one = row[v];
    const Lanes other = row[v + 1];
#endif
    sum[v] += one * weight;
    sum[v + 1] += other * weight;
  }
  if constexpr (All % 2 != 0) sum[All - 1] += row[All - 1] * weight;
}

/// One or two sums of weighted rows side by side, Vectors * 8 columns each: twelve sums at most, as in
/// tile().
template <std::size_t Vectors, std::size_t Sides>
AFLGUARD_INLINE void weighted_rows(const WeightedRows& task) {
  constexpr std::size_t kWidth = Vectors % 2 == 0 ? kBlock : kHalfBlock;
  constexpr std::size_t kAll = Vectors * 8 * sizeof(float) / sizeof(typename TileLanes<kWidth>::Type);
  // Sums of two sides in one array would go through memory.
  RowLanes<kWidth, kAll> sum;
  RowLanes<kWidth, kAll> beside;
  load_row<kWidth, kAll>(sum, task.to[0]);
  if constexpr (Sides == 2) load_row<kWidth, kAll>(beside, task.to[1]);
  for (std::size_t i = 0; i < task.count; ++i) {
    const std::size_t offset = task.entries[i].row * task.stride;
    const float weight = task.entries[i].weight;
    add_row<kWidth, kAll>(sum, task.rows[0] + offset, weight);
    if constexpr (Sides == 2) add_row<kWidth, kAll>(beside, task.rows[1] + offset, weight);
  }
  store_row<kWidth, kAll>(sum, task.to[0]);
  if constexpr (Sides == 2) store_row<kWidth, kAll>(beside, task.to[1]);
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
