#pragma once

#include <cstddef>
#include <vector>

namespace aflguard {

/// Bytes that somebody owns.
using Bytes = std::vector<std::byte>;

}  // namespace aflguard
