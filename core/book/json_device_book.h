#pragma once

#include <filesystem>
#include <vector>

#include "core/base/result.h"
#include "core/identity/device.h"

namespace aflguard {

/// The devices of a book that an older version wrote, as one JSON file, in the order of enrolment. kNotFound
/// when there is no file, kCorrupt with the path when it is not a device book, repeats a name or a key, or
/// exceeds a limit.
[[nodiscard]] Result<std::vector<Device>> read_json_device_book(const std::filesystem::path& path);

}  // namespace aflguard
