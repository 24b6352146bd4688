#pragma once

#include <filesystem>
#include <string>

#include "core/base/result.h"

namespace aflguard {

/// The full path of a program that PATH has, or that lies where Debian keeps those of administrators; empty
/// when there is none.
[[nodiscard]] std::filesystem::path find_program(const std::string& name);

/// kNotFound, with the Debian package that has it, when this machine lacks a program.
[[nodiscard]] Status require_program(const std::string& name, const std::string& package);

}  // namespace aflguard
