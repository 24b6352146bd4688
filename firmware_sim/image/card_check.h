#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/result.h"

namespace aflguard::image {

/// Where one of the partitions of `card` (a device as in /dev/sdX, or one of its partitions) is mounted, by
/// the lines of /proc/self/mounts; empty when none is.
[[nodiscard]] std::string mount_point_of(const std::filesystem::path& card, const std::string& mounts);

/// kInvalidInput unless the image or card, whose boot partition is at `offset`, is one that `aflguard image
/// build` has made and that is not mounted. A file is closed to other users: a key goes into it.
[[nodiscard]] Status prepare_card(const std::filesystem::path& card, std::uint64_t offset);

}  // namespace aflguard::image
