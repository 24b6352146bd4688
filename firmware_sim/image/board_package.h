#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace aflguard::image {

/// A Debian package that boards can install.
struct PackageFile {
  std::filesystem::path file;  ///< absolute
  std::string name;
  std::string version;
};

/// What these files are, told by dpkg-deb. kNotFound for a file that is not there; an error with the file's
/// name for one that is not a package or is for other machines; kInvalidInput when one is there twice, or
/// when none is aflguard-client.
[[nodiscard]] Result<std::vector<PackageFile>> look_at_packages(
    const std::vector<std::filesystem::path>& files);

}  // namespace aflguard::image
