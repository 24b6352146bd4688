#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "datasets/catalog.h"
#include "datasets/manifest.h"

namespace aflguard::datasets {

/// Where things go, and how the work is shown.
struct InstallContext {
  std::filesystem::path data_dir;
  std::filesystem::path cache_dir;
  Progress& progress;
  bool force = false;      ///< install again even when it is there
  std::uint64_t seed = 1;  ///< for data that is generated
};

struct InstallOutcome {
  std::filesystem::path folder;
  bool was_there = false;  ///< nothing had to be done
};

/// Downloads (pinned by checksum, kept in the cache) or generates the data set and installs it.
/// Quick when it is installed already; a damaged installation is replaced.
/// kUnavailable when a download fails, kNotFound when a program that it needs is not installed.
[[nodiscard]] Result<InstallOutcome> get_dataset(std::string_view name, const InstallContext& context);

/// Installs from files that the user has: docs/data.md lists what each data set accepts.
[[nodiscard]] Result<InstallOutcome> import_dataset(std::string_view name,
                                                    const std::filesystem::path& source,
                                                    const InstallContext& context);

/// The name, inside the data folder, of temporary folders that archives are unpacked into.
inline constexpr const char* kUnpacked = "unpacked";

/// Writes a data set's files into the folder it is given.
using FileWriter = std::function<Status(const std::filesystem::path& folder)>;

/// The steps every installation shares: one at a time per data folder, into a new folder that is
/// loaded and verified against `info` before it appears under its name. On failure the data folder is as it
/// was.
[[nodiscard]] Result<InstallOutcome> install(const DatasetInfo& info, const InstallContext& context,
                                             const Origin& origin, const FileWriter& write_files);

}  // namespace aflguard::datasets
