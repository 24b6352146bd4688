#include "core/system/machine/disk_space.h"

namespace aflguard {

std::optional<DiskSpace> disk_space(const std::filesystem::path& path) {
  std::error_code failed;
  const auto space = std::filesystem::space(path.empty() ? "." : path, failed);
  if (failed) return std::nullopt;
  return DiskSpace{space.available, space.capacity};
}

}  // namespace aflguard
