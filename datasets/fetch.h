#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"

namespace aflguard::datasets {

/// A package at one exact version, known by its checksum.
struct PinnedPackage {
  std::string name;
  std::string version;
  std::string sha256;  ///< hex, of the archive
};

/// The package's archive in `cache`, downloaded with the system's own tool unless it is there already. Either
/// way its checksum held; an archive whose checksum is wrong is removed.
/// kNotFound when the tool is not installed, kUnavailable when it fails, kCorrupt on a wrong checksum.
[[nodiscard]] Result<std::filesystem::path> fetch_npm_package(const PinnedPackage& package,
                                                              const std::filesystem::path& cache,
                                                              Progress& progress);
[[nodiscard]] Result<std::filesystem::path> fetch_debian_package(const PinnedPackage& package,
                                                                 const std::filesystem::path& cache,
                                                                 Progress& progress);

/// Unpacks files of a verified archive into `folder`.
[[nodiscard]] Status unpack_npm_package(const std::filesystem::path& archive,
                                        const std::filesystem::path& folder);
[[nodiscard]] Status unpack_debian_package(const std::filesystem::path& archive,
                                           const std::filesystem::path& folder);

}  // namespace aflguard::datasets
