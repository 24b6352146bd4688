#pragma once

#include <filesystem>
#include <string>

#include "core/base/result.h"

namespace aflguard {

/// The folder of this very program.
[[nodiscard]] Result<std::filesystem::path> own_folder();

/// Where a program is that is built and installed together with this one. kNotFound when it is not there.
[[nodiscard]] Result<std::filesystem::path> program_beside_us(const std::string& name);

/// The broker; Debian keeps daemons where ordinary users' PATH does not look.
[[nodiscard]] std::string mosquitto_program();

/// The full path of a program that PATH has, or that lies where Debian keeps those of administrators; empty
/// when there is none.
[[nodiscard]] std::filesystem::path find_program(const std::string& name);

/// kNotFound, with the Debian package that has it, when this machine lacks a program.
[[nodiscard]] Status require_program(const std::string& name, const std::string& package);

}  // namespace aflguard
