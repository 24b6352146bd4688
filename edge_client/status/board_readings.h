#pragma once

#include <filesystem>

#include "core/telemetry/device_status.h"

namespace aflguard::edge {

/// From Linux's files; `root` stands in front of /sys and /proc.
[[nodiscard]] BoardReadings read_board(const std::filesystem::path& root = "/");

}  // namespace aflguard::edge
