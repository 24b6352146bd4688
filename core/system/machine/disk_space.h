#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace aflguard {

struct DiskSpace {
  std::uint64_t free_bytes = 0;  ///< that programs without privileges can still have
  std::uint64_t total_bytes = 0;
};

/// Of the file system that holds `path` (empty: the working folder); none when the system does not say.
[[nodiscard]] std::optional<DiskSpace> disk_space(const std::filesystem::path& path);

}  // namespace aflguard
