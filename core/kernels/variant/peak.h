#pragma once

#include "core/kernels/variant/tile.h"

namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT {

/// Independent multiply-adds in registers, and nothing else: what the processor could do at most.
inline Peak peak(std::size_t rounds, float factor) {
  using Lanes = typename TileLanes<kBlock>::Type;
  constexpr std::size_t kChains = 12;  // more than latency times units of any processor at hand
  Lanes sum[kChains];
  for (std::size_t i = 0; i < kChains; ++i) sum[i] = Lanes{} + static_cast<float>(i);
  const Lanes by = Lanes{} + factor;
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < kChains; ++i) sum[i] = sum[i] * by + by;
  }
  float total = 0;
  for (std::size_t i = 0; i < kChains; ++i) {
    for (std::size_t lane = 0; lane < sizeof(Lanes) / sizeof(float); ++lane) total += sum[i][lane];
  }
  return {rounds * kChains * sizeof(Lanes) / sizeof(float), total};
}

}  // namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT
