#pragma once

#include "core/system/atomic_file.h"

namespace aflguard::bench {

/// A folder on a disk, where there is one (/tmp is often memory), which is removed at the end.
[[nodiscard]] Result<StagedDirectory> scratch_folder();

}  // namespace aflguard::bench
