#pragma once

#include <filesystem>

#include "core/telemetry/device_status.h"

namespace aflguard::edge {

/// From Linux's files; `root` stands in front of /sys and /proc.
[[nodiscard]] BoardReadings read_board(const std::filesystem::path& root = "/");

/// Megabytes that this process can have at most: all of the board's, or what its control group has (a unit's
/// MemoryMax=). Nothing where neither is known.
[[nodiscard]] std::optional<std::uint64_t> memory_limit_mb(const std::filesystem::path& root = "/");

}  // namespace aflguard::edge
