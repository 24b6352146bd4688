#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/learning/data/dataset.h"
#include "datasets/catalog.h"

namespace aflguard::datasets {

/// The installed data set, verified against the catalog: counts, shape, classes, finite values.
/// kNotFound, with the command that installs it, when it is not there.
[[nodiscard]] Result<DatasetSplit> load_dataset(std::string_view name, const std::filesystem::path& data_dir);

/// The same from the default data folder (folders.h).
[[nodiscard]] Result<DatasetSplit> load_dataset(std::string_view name);

/// The files in `folder`, whatever its name, verified against `info`.
[[nodiscard]] Result<DatasetSplit> load_folder(const DatasetInfo& info, const std::filesystem::path& folder);

/// theta* of the installed synthetic data, for the model estimation error.
[[nodiscard]] Result<std::vector<float>> load_true_model(const std::filesystem::path& data_dir);

}  // namespace aflguard::datasets
