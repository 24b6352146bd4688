#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace aflguard {

/// The folder of this very program.
[[nodiscard]] Result<std::filesystem::path> own_folder();

/// A program that is built and installed together with this one. kNotFound when it is not there.
[[nodiscard]] Result<std::filesystem::path> sibling(const std::string& name);

/// This process becomes that program, which sees itself called by the name `called`. Returns only when it
/// cannot: kNotFound when the program is not there.
[[nodiscard]] Status become_sibling(const std::string& name, const std::string& called,
                                    const std::vector<std::string>& arguments);

/// The broker; Debian keeps daemons where ordinary users' PATH does not look.
[[nodiscard]] std::string mosquitto_program();

}  // namespace aflguard
