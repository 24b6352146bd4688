#pragma once

#include <filesystem>
#include <vector>

#include "core/base/result.h"

namespace aflguard::image {

/// The client's package for boards: those that were named, else the newest that `./run package` has made
/// here. kNotFound says how to get one.
[[nodiscard]] Result<std::vector<std::filesystem::path>> find_client_packages(
    const std::vector<std::string>& named);

}  // namespace aflguard::image
