#pragma once

namespace aflguard::bench {

/// CPU time of this process, in seconds.
[[nodiscard]] double process_cpu_seconds();
/// The same without the calling thread: what the gateway's threads use, where this one plays its devices.
[[nodiscard]] double others_cpu_seconds();
/// Resident memory of this process.
[[nodiscard]] double resident_mb();

}  // namespace aflguard::bench
