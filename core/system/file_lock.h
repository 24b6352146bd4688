#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <sys/types.h>

#include "core/base/result.h"
#include "core/system/file_descriptor.h"

namespace aflguard {

struct FileLockOptions {
  bool make_file = true;  ///< false: the file exists, and only needs to be readable
  mode_t mode = 0600;     ///< of a file that is made, less the umask
  std::chrono::milliseconds timeout{0};
};

inline constexpr std::chrono::milliseconds kLockWithoutTimeout = std::chrono::milliseconds::max();

/// Holds a file against every other FileLock on it, of this process and of others (flock). The kernel
/// releases it when the process ends, however it ends, so a lock is never stale. The file stays.
class FileLock final {
 public:
  /// kUnavailable, with the holder where it is known, when another one has it until the timeout; kNotFound
  /// when the file or its folder is missing; kIo when the file cannot be opened.
  [[nodiscard]] static Result<FileLock> take(const std::filesystem::path& path,
                                             const FileLockOptions& options = {});

 private:
  explicit FileLock(FileDescriptor file) : file_(std::move(file)) {}
  FileDescriptor file_;
};

/// The process that took the lock on this file. None when it is free, and where the system does not
/// tell: in some containers and on some file systems.
[[nodiscard]] std::optional<pid_t> lock_holder(const std::filesystem::path& path);

/// " (process 123)" where that is known, else nothing: for messages.
[[nodiscard]] std::string lock_holder_text(const std::filesystem::path& path);

}  // namespace aflguard
