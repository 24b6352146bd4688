#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace aflguard {

/// A TCP port that is free at this moment, of one of this machine's IPv4 addresses. kUnavailable
/// when there is none, or no such address.
[[nodiscard]] Result<std::uint16_t> free_port(const std::string& address);

/// The same of 127.0.0.1.
[[nodiscard]] Result<std::uint16_t> free_loopback_port();

}  // namespace aflguard
