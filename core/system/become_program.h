#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace aflguard {

/// This process becomes that program, which sees itself called by the name `called`. Returns only when it
/// cannot.
[[nodiscard]] Status become_program(const std::filesystem::path& program, const std::string& called,
                                    const std::vector<std::string>& arguments);

}  // namespace aflguard
