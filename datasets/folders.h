#pragma once

#include <filesystem>

#include "core/base/result.h"

namespace aflguard::datasets {

/// Where data sets are installed: $AFLGUARD_DATA, else $XDG_DATA_HOME/aflguard, else ~/.local/share/aflguard.
/// kInvalidInput when none of the three can be told. The folder need not exist yet.
[[nodiscard]] Result<std::filesystem::path> data_folder();

/// Where verified downloads are kept: $AFLGUARD_CACHE, else $XDG_CACHE_HOME/aflguard, else ~/.cache/aflguard.
[[nodiscard]] Result<std::filesystem::path> cache_folder();

}  // namespace aflguard::datasets
