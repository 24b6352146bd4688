#pragma once

#include "core/learning/data/idx.h"
#include "datasets/catalog.h"
#include "datasets/install.h"
#include "tests/support/test.h"

namespace aflguard::testing {

/// A data set of two training and two test images, for tests of what all data sets share.
inline datasets::DatasetInfo tiny_info() {
  return {"tiny", "Tiny", datasets::Layout::kIdx, 2, 2, 2, {1, 1, 2}, 0, "aflguard data get tiny"};
}

inline Status write_tiny_files(const std::filesystem::path& folder) {
  for (const char* part : {"train", "t10k"}) {
    const std::string prefix = (folder / part).string();
    TRY_STATUS(write_idx(prefix + "-images-idx3-ubyte", {2, 1, 2}, std::vector<std::uint8_t>{1, 2, 3, 4}));
    TRY_STATUS(write_idx(prefix + "-labels-idx1-ubyte", {2}, std::vector<std::uint8_t>{0, 1}));
  }
  return {};
}

}  // namespace aflguard::testing
