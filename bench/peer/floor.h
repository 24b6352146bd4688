#pragma once

#include <cstddef>
#include <filesystem>

#include "core/base/result.h"

namespace aflguard::bench {

/// Milliseconds of CPU time that an update of `bytes` bytes costs a gateway which does nothing with it but
/// what cannot be left out: decrypt its TLS records (AES-256-GCM), hash it for its signature (SHA-256), and
/// write a model of that size to `file` once. The median of several rounds, on this thread.
[[nodiscard]] Result<double> floor_ms(std::size_t bytes, const std::filesystem::path& file);

}  // namespace aflguard::bench
