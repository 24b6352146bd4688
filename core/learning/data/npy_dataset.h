#pragma once

#include <filesystem>
#include <string>

#include "core/base/result.h"
#include "core/learning/data/dataset.h"
#include "core/learning/data/sample_range.h"

namespace aflguard {

/// Features [N, shape of one sample...] as float32, as uint8 pixels, or as int64 ids; labels [N] as int64 or
/// uint8 when `classes` > 0, otherwise values [N] or [N, 1] as float32. `subjects` (int64 or uint8, [N]) may
/// be an empty path. Errors name the file, its dtype or shape, and what was expected.
[[nodiscard]] Result<Dataset> read_npy_dataset(const std::string& name, std::size_t classes,
                                               const std::filesystem::path& features,
                                               const std::filesystem::path& labels,
                                               const std::filesystem::path& subjects = {},
                                               const SampleRange& range = {});

}  // namespace aflguard
