#pragma once

#include <cstdint>
#include <optional>
#include <sys/types.h>

namespace aflguard {

/// Lets this process, and the programs that it starts from now on, open as many files and connections as the
/// system allows at all (the soft limit becomes the hard one).
void raise_descriptor_limit();

/// How many files and connections that process may have open; none when the system does not tell.
[[nodiscard]] std::optional<std::uint64_t> descriptor_limit_of(pid_t process);

}  // namespace aflguard
