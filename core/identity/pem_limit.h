#pragma once

#include <cstdint>

namespace aflguard {

/// The largest file with certificates or keys that any program reads: a long chain has some ten kilobytes.
inline constexpr std::uint64_t kMaxPemBytes = std::uint64_t{1} << 20;

}  // namespace aflguard
