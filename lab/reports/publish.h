#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace aflguard::lab {

/// What one campaign's folder gave.
struct PublishedPlan {
  std::string plan;  ///< "table-2a"
  std::string title;
  std::size_t cells = 0;
  std::size_t runs = 0;
  std::size_t seeds = 0;
  std::string files;  ///< base name of the .csv and .html
};

/// Out of the folders of finished campaigns (lab table, figure, grid) into one folder: per campaign a CSV
/// with every run, its seed and its settings, and its page; and an index.csv. Replaces files of the same
/// names, nothing else. kNotFound and kCorrupt name the folder.
[[nodiscard]] Result<std::vector<PublishedPlan>> publish(const std::vector<std::filesystem::path>& campaigns,
                                                         const std::filesystem::path& folder);

}  // namespace aflguard::lab
