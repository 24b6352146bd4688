#include "core/system/file_lock.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <thread>

namespace aflguard {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::milliseconds kLockPollInterval{20};

int lock(int file, int operation) {
  while (::flock(file, operation) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

/// 0, or why there is no lock: EWOULDBLOCK when the time is over. flock() itself knows no timeout.
int lock_in_time(int file, std::chrono::milliseconds timeout) {
  if (timeout == kLockWithoutTimeout) return lock(file, LOCK_EX);
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    const int problem = lock(file, LOCK_EX | LOCK_NB);
    if (problem != EWOULDBLOCK || std::chrono::steady_clock::now() >= deadline) return problem;
    std::this_thread::sleep_for(kLockPollInterval);
  }
}

/// "08:01:1234", as /proc/locks names a file.
std::string name_in_lock_list(const struct stat& file) {
  char name[64];
  std::snprintf(name, sizeof name, "%02x:%02x:%llu", major(file.st_dev), minor(file.st_dev),
                static_cast<unsigned long long>(file.st_ino));
  return name;
}

}  // namespace

Result<FileLock> FileLock::take(const fs::path& path, const FileLockOptions& options) {
  const int flags = options.make_file ? O_RDWR | O_CREAT : O_RDONLY;
  FileDescriptor file(::open(path.c_str(), flags | O_CLOEXEC, options.mode));
  if (!file.valid()) {
    const std::string text = path.string() + ": cannot be opened: " + std::strerror(errno);
    return errno == ENOENT ? not_found(text) : io_error(text);
  }
  const int problem = lock_in_time(file.get(), options.timeout);
  if (problem == EWOULDBLOCK) {
    return unavailable(path.string() + " is in use by another process" + lock_holder_text(path));
  }
  if (problem != 0) return io_error("cannot lock " + path.string() + ": " + std::strerror(problem));
  return FileLock(std::move(file));
}

std::optional<pid_t> lock_holder(const fs::path& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return std::nullopt;
  const std::string wanted = name_in_lock_list(file);
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    // 1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF; "1: -> FLOCK ..." is one that waits.
    std::istringstream fields(line);
    std::string number, kind, manner, access, place;
    pid_t holder = 0;
    fields >> number >> kind >> manner >> access >> holder >> place;
    if (kind == "FLOCK" && place == wanted && holder > 0) return holder;
  }
  return std::nullopt;
}

std::string lock_holder_text(const fs::path& path) {
  const auto holder = lock_holder(path);
  return holder ? " (process " + std::to_string(*holder) + ")" : std::string();
}

}  // namespace aflguard
