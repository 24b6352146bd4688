#pragma once

#include <filesystem>
#include <string>

#include "core/base/result.h"

namespace aflguard::fleet {

/// The dashboard's page: the chosen file, or, where none is chosen, what was installed or built beside the
/// programs in that folder. kNotFound says how to get one.
[[nodiscard]] Result<std::string> read_page(const std::filesystem::path& chosen,
                                            const std::filesystem::path& programs);

}  // namespace aflguard::fleet
