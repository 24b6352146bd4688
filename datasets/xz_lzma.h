#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"

namespace aflguard::datasets {

/// The content of a .xz file. kCorrupt when it is damaged, cut short or followed by other bytes, or when it
/// would exceed `limit` bytes.
[[nodiscard]] Result<std::vector<std::byte>> unxz(std::span<const std::byte> compressed, std::uint64_t limit);

}  // namespace aflguard::datasets
