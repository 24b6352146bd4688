#pragma once

#include <filesystem>

#include "core/base/result.h"
#include "core/system/file_lock.h"

namespace aflguard {

/// Holds a folder for one process at a time: waits until it is free.
class FolderLock final {
 public:
  /// Makes the folder when it is missing.
  [[nodiscard]] static Result<FolderLock> acquire(const std::filesystem::path& folder);

  /// Removes what interrupted StagedDirectory users left beside `target` while no other process can be at
  /// work.
  void remove_leftovers(const std::filesystem::path& target) const;

 private:
  explicit FolderLock(FileLock lock) : lock_(std::move(lock)) {}
  FileLock lock_;
};

}  // namespace aflguard
