#pragma once

#include <filesystem>
#include <string>

#include "core/base/result.h"

namespace aflguard {

/// The text of a file that holds a secret, such as a private key; links are followed. kInvalidInput, with the
/// command that mends it, when it is not a regular file, belongs to a user other than this one and root, or
/// when another user than its owner may read, write or run it.
[[nodiscard]] Result<std::string> read_secret_file(const std::filesystem::path& path);

}  // namespace aflguard
