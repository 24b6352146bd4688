#include "core/system/folder_lock.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace aflguard {
namespace fs = std::filesystem;

Result<FolderLock> FolderLock::acquire(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  const fs::path path = folder / ".lock";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return io_error("cannot write to " + folder.string() + ": " + std::strerror(errno));
  FolderLock lock(fd);
  while (::flock(fd, LOCK_EX) != 0) {
    if (errno != EINTR) return io_error("cannot lock " + path.string() + ": " + std::strerror(errno));
  }
  return lock;
}

FolderLock::FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FolderLock::~FolderLock() {
  if (fd_ >= 0) ::close(fd_);
}

void FolderLock::remove_leftovers(const fs::path& target) const {
  constexpr std::size_t kRandomSuffix = 6;  // ".XXXXXX" of mkdtemp, perhaps followed by ".old"
  const std::string prefix = target.filename().string() + ".";
  std::error_code error;
  std::vector<fs::path> leftovers;
  for (fs::directory_iterator it(target.parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    std::string name = it->path().filename().string();
    if (name.ends_with(".old")) name.resize(name.size() - 4);
    if (name.starts_with(prefix) && name.size() == prefix.size() + kRandomSuffix)
      leftovers.push_back(it->path());
  }
  for (const fs::path& path : leftovers) fs::remove_all(path, error);
}

}  // namespace aflguard
