#pragma once

#include <cstddef>
#include <vector>

namespace aflguard {

/// Bytes that someone owns.
using Bytes = std::vector<std::byte>;

}  // namespace aflguard
