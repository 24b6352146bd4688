#pragma once

#include <cstddef>

namespace aflguard {

/// Resident memory of this process in megabytes; 0 when the system does not say.
[[nodiscard]] double resident_megabytes();

/// Memory of the machine; 0 when the system does not say.
[[nodiscard]] std::size_t machine_memory_bytes();

}  // namespace aflguard
