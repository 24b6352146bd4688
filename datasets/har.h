#pragma once

#include <filesystem>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "datasets/catalog.h"

namespace aflguard::datasets {

/// Human Activity Recognition, from the published folder `UCI HAR Dataset` (or the folder around it), or from
/// NumPy files har-{train,test}-features561.npy (or .npy.xz), -labels.npy and -subjects.npy. Counts are those
/// of `info`. Writes the NumPy layout of catalog.h with classes from 0; subjects keep their numbers.
[[nodiscard]] Status import_har(const DatasetInfo& info, const std::filesystem::path& source,
                                const std::filesystem::path& target, Progress& progress);

}  // namespace aflguard::datasets
