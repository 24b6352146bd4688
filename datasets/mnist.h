#pragma once

#include <filesystem>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "datasets/manifest.h"

namespace aflguard::datasets {

/// The published files of the two data sets in MNIST's format.
[[nodiscard]] const std::vector<PinnedFile>& mnist_files();
[[nodiscard]] const std::vector<PinnedFile>& fashion_mnist_files();

/// Copies the files from `source`, plain or with .gz behind their name, into `target`. Sizes and checksums
/// must be those of `files`; errors name the file in `source`.
[[nodiscard]] Status copy_pinned_files(const std::vector<PinnedFile>& files,
                                       const std::filesystem::path& source,
                                       const std::filesystem::path& target, Progress& progress);

}  // namespace aflguard::datasets
