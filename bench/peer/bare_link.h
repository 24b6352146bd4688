#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace aflguard::bench {

/// Seconds to send `bytes` bytes over a plain TCP connection, from the first one until the listener there
/// has answered with one byte. The connection is made before the clock starts.
[[nodiscard]] Result<double> send_over_bare_link(const std::string& host, std::uint16_t port,
                                                 std::size_t bytes);

}  // namespace aflguard::bench
