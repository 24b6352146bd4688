#pragma once

#include <cstddef>
#include <vector>

namespace aflguard {

/// Bytes that own their memory.
using Bytes = std::vector<std::byte>;

}  // namespace aflguard
