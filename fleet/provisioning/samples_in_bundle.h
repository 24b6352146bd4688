#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace aflguard::fleet {

/// The files of samples that the client.toml in `device` (a fleet's folder DIR/devices/NAME) names by a
/// relative path, and that are not in that folder: on the board they would be missing, too. Absolute paths
/// are the board's own affair. Fails when client.toml cannot be read.
[[nodiscard]] Result<std::vector<std::string>> samples_not_in_bundle(const std::filesystem::path& device);

}  // namespace aflguard::fleet
