#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/learning/data/dataset.h"

namespace aflguard::sim {

/// Writes samples as files that a client's or gateway's configuration can name, and returns the lines for its
/// section: IDX for one-channel pixels, NPY otherwise. Files are STEM-images, STEM-labels and the like. The
/// lines name them in `named`: empty where the configuration lies beside them.
[[nodiscard]] Result<std::vector<std::string>> export_dataset(const Dataset& data,
                                                              const std::filesystem::path& folder,
                                                              const std::string& stem,
                                                              const std::filesystem::path& named);

}  // namespace aflguard::sim
