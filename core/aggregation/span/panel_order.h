#pragma once

#include <cstdint>

#include "core/aggregation/client_update.h"

namespace aflguard {

/// Spreads client numbers over all 64 bits (the finalizer of splitmix64), one to one: the clients with the
/// smallest results are a uniform sample.
[[nodiscard]] constexpr std::uint64_t panel_order(ClientId client) {
  std::uint64_t x = client + 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

}  // namespace aflguard
