#pragma once

#include <filesystem>
#include <string>

#include "core/base/result.h"

namespace aflguard {

/// The text of a private key's file. kInvalidInput, with the command that helps, when anybody but its owner
/// may read or write it; links are followed.
[[nodiscard]] Result<std::string> read_secret_file(const std::filesystem::path& path);

}  // namespace aflguard
