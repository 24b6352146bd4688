#pragma once

#include <filesystem>

#include "core/base/result.h"

namespace aflguard {

/// Holds a folder for one process at a time: waits until it is free. The kernel releases it when the process
/// ends, however it ends, so a lock is never stale.
class FolderLock final {
 public:
  /// Makes the folder when it is missing.
  [[nodiscard]] static Result<FolderLock> acquire(const std::filesystem::path& folder);
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;
  FolderLock(const FolderLock&) = delete;
  ~FolderLock();

  /// Removes what interrupted StagedDirectory users left beside `target` while nobody else can be at work.
  void remove_leftovers(const std::filesystem::path& target) const;

 private:
  explicit FolderLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace aflguard
