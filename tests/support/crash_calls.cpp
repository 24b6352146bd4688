#include "tests/support/crash_calls.h"

#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <map>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "tests/support/test.h"

namespace aflguard::testing {
namespace {

/// Shared with the process that watches.
struct Report {
  std::uint64_t calls;
  int steps;
  bool ended;
  bool unsynced_rename;
};

/// A rename or removal in a folder that is not synced yet, and what it takes to undo it.
struct NameChange {
  std::string from;  ///< empty: a removal
  std::string to;
  std::optional<std::string> replaced;  ///< content of `to` before
  bool exchanged = false;
};

struct Watch {
  std::string folder;
  CallFault fault{};
  std::uint64_t point = 0;
  Report* report = nullptr;
  std::map<std::string, bool> dirty;  ///< files by path: written, not synced
  std::vector<NameChange> names;
};

Watch* watch = nullptr;  // only in the process that is to crash

long real_rename(const char* from, const char* to, unsigned flags = 0) {
  return ::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
}

std::string path_of(int fd) {
  char target[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t size = ::readlink(link.c_str(), target, sizeof target);
  return size < 0 ? std::string() : std::string(target, static_cast<std::size_t>(size));
}

bool ours(const std::string& path) {
  return watch != nullptr && path.starts_with(watch->folder + "/");
}

std::optional<std::string> content_of(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  const long fd = ::syscall(SYS_openat, AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  const long got = ::syscall(SYS_read, fd, text.data(), text.size());
  ::syscall(SYS_close, fd);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

void put_content(const std::string& path, const std::string& text) {
  const long fd =
      ::syscall(SYS_openat, AT_FDCWD, path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  (void)::syscall(SYS_write, fd, text.data(), text.size());
  ::syscall(SYS_close, fd);
}

[[noreturn]] void crash() {
  if (watch->fault == CallFault::kDropBytes) {
    for (const auto& [path, dirty] : watch->dirty) {
      if (dirty) (void)::syscall(SYS_truncate, path.c_str(), 0L);
    }
  }
  if (watch->fault == CallFault::kDropNames) {
    for (auto change = watch->names.rbegin(); change != watch->names.rend(); ++change) {
      if (change->exchanged) {
        real_rename(change->from.c_str(), change->to.c_str(), RENAME_EXCHANGE);
      } else if (change->from.empty()) {
        if (change->replaced) put_content(change->to, *change->replaced);
      } else {
        real_rename(change->to.c_str(), change->from.c_str());
        if (change->replaced) put_content(change->to, *change->replaced);
      }
    }
  }
  ::_exit(77);
}

enum class Verdict : std::uint8_t { kGoOn, kFail, kHalf };

/// Counts a call; does not return when the program ends there.
Verdict next_call(bool can_be_halved = false) {
  if (++watch->report->calls != watch->point) return Verdict::kGoOn;
  if (watch->fault == CallFault::kFail) {
    errno = EIO;
    return Verdict::kFail;
  }
  if (watch->fault == CallFault::kTear && can_be_halved) return Verdict::kHalf;
  crash();
}

}  // namespace

CrashOutcome run_with_fault(const std::filesystem::path& folder, CallFault fault, std::uint64_t point,
                            const std::function<void(const std::function<void()>& done)>& steps) {
  void* shared = ::mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  TEST_ASSERT_TRUE(shared != MAP_FAILED);
  auto* report = new (shared) Report{};
  const pid_t child = ::fork();
  TEST_ASSERT_TRUE(child >= 0);
  if (child == 0) {
    Watch in_force{std::filesystem::canonical(folder).string(), fault, point, report, {}, {}};
    watch = &in_force;
    steps([report] { ++report->steps; });
    report->ended = true;
    ::_exit(0);
  }
  int status = 0;
  TEST_ASSERT_EQUAL_INT(child, ::waitpid(child, &status, 0));
  TEST_ASSERT_TRUE_MESSAGE(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77),
                           "the process ended otherwise");
  const CrashOutcome outcome{report->calls, report->steps, report->ended, report->unsynced_rename};
  ::munmap(shared, sizeof(Report));
  return outcome;
}

namespace {

ssize_t watched_write(int fd, const void* bytes, std::size_t size, std::optional<off_t> at) {
  const auto really = [&](std::size_t count) {
    return at ? ::syscall(SYS_pwrite64, fd, bytes, count, *at) : ::syscall(SYS_write, fd, bytes, count);
  };
  const std::string path = watch == nullptr ? std::string() : path_of(fd);
  if (!ours(path)) return really(size);
  const Verdict verdict = next_call(true);
  if (verdict == Verdict::kFail) return -1;
  watch->dirty[path] = true;
  if (verdict == Verdict::kGoOn) return really(size);
  (void)really(size / 2);
  crash();
}

int watched_sync(int fd, long call) {
  const std::string path = watch == nullptr ? std::string() : path_of(fd);
  const bool of_folder = watch != nullptr && path == watch->folder;
  if (!ours(path) && !of_folder) return static_cast<int>(::syscall(call, fd));
  if (next_call() == Verdict::kFail) return -1;
  watch->dirty[path] = false;
  std::erase_if(watch->names, [&](const NameChange& change) {
    return std::filesystem::path(change.to).parent_path() == path;
  });
  return 0;
}

int watched_rename(const char* from, const char* to, unsigned flags) {
  if (!ours(to)) return static_cast<int>(real_rename(from, to, flags));
  if (next_call() == Verdict::kFail) return -1;
  const bool exchanged = (flags & RENAME_EXCHANGE) != 0;
  NameChange change{from, to, exchanged ? std::nullopt : content_of(to), exchanged};
  const long done = real_rename(from, to, flags);
  if (done != 0) return static_cast<int>(done);
  watch->names.push_back(std::move(change));
  if (watch->dirty[from]) watch->report->unsynced_rename = true;
  watch->dirty[to] = std::exchange(watch->dirty[from], false);
  return 0;
}

int watched_remove(const char* path, int flags) {
  if (!ours(path)) return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, flags));
  if (next_call() == Verdict::kFail) return -1;
  if (flags == 0) watch->names.push_back({"", path, content_of(path), false});
  watch->dirty.erase(path);
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, flags));
}

}  // namespace
}  // namespace aflguard::testing

// In front of the C library's, for this program and the libraries that it links.
extern "C" {

ssize_t write(int fd, const void* bytes, size_t size) {
  return aflguard::testing::watched_write(fd, bytes, size, std::nullopt);
}
ssize_t pwrite(int fd, const void* bytes, size_t size, off_t at) {
  return aflguard::testing::watched_write(fd, bytes, size, at);
}
int fsync(int fd) {
  return aflguard::testing::watched_sync(fd, SYS_fsync);
}
int fdatasync(int fd) {
  return aflguard::testing::watched_sync(fd, SYS_fdatasync);
}
int rename(const char* from, const char* to) noexcept {
  return aflguard::testing::watched_rename(from, to, 0);
}
int renameat2(int, const char* from, int, const char* to, unsigned flags) noexcept {
  return aflguard::testing::watched_rename(from, to, flags);
}
int unlink(const char* path) noexcept {
  return aflguard::testing::watched_remove(path, 0);
}
int remove(const char* path) noexcept {
  struct stat info {};
  const bool folder = ::lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
  return aflguard::testing::watched_remove(path, folder ? AT_REMOVEDIR : 0);
}
}
