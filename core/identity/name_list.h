#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>

#include "core/base/result.h"

namespace aflguard {

using NameList = std::set<std::string, std::less<>>;

/// Names of devices in a file, one on each line; lines that begin with # and empty ones are left out. Empty
/// when there is no such file; kInvalidInput, with file and line, when a line is not a name.
[[nodiscard]] Result<NameList> read_name_list(const std::filesystem::path& path);

/// Whole or not at all.
[[nodiscard]] Status write_name_list(const std::filesystem::path& path, const NameList& names);

}  // namespace aflguard
