#pragma once

#include <cstdint>
#include <filesystem>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "datasets/catalog.h"

namespace aflguard::datasets {

/// The paper splits the images at random and does not say how: this seed decides, for all runs.
inline constexpr std::uint64_t kColorectalSplitSeed = 1;

/// hmnist_64_64_L.csv: a header, then one image per row, pixel by pixel, with its label 1, 2, ... in the
/// column `label`. Counts are those of `info`; the rows are shuffled with kColorectalSplitSeed, the first
/// info.train of them are for training. Writes the IDX layout of catalog.h with classes from 0.
[[nodiscard]] Status import_colorectal(const DatasetInfo& info, const std::filesystem::path& csv,
                                       const std::filesystem::path& target, Progress& progress);

}  // namespace aflguard::datasets
