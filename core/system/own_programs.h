#pragma once

#include <filesystem>
#include <string>

#include "core/base/result.h"

namespace aflguard {

/// The folder of this very program.
[[nodiscard]] Result<std::filesystem::path> own_folder();

/// A program that is built and installed together with this one. kNotFound when it is not there.
[[nodiscard]] Result<std::filesystem::path> sibling(const std::string& name);

/// The broker; Debian keeps daemons where ordinary users' PATH does not look.
[[nodiscard]] std::string mosquitto_program();

}  // namespace aflguard
