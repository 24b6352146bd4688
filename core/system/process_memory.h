#pragma once

namespace aflguard {

/// Resident memory of this process in megabytes; 0 when the system does not say.
[[nodiscard]] double resident_megabytes();

}  // namespace aflguard
