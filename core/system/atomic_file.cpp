#include "core/system/atomic_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "core/system/file_descriptor.h"

namespace aflguard {
namespace fs = std::filesystem;
namespace {

std::string last_error() {
  return std::strerror(errno);
}

void sync_directory(const fs::path& directory) {
  FileDescriptor fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems refuse to sync folders; the rename itself is still atomic there.
  if (fd.valid()) (void)::fsync(fd.get());
}

mode_t current_umask() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return mask;
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// A rename would put a file in the place of /dev/stdout, for all programs.
Status check_replaceable(const fs::path& path) {
  struct stat there {};
  if (::stat(path.c_str(), &there) != 0 || S_ISREG(there.st_mode)) return {};
  return invalid_input(path.string() + " exists and is not a regular file; name a file to write");
}

/// `fd` is the new file `temporary` (mode 0600), or not valid when it could not be made.
Status write_and_rename(FileDescriptor fd, const std::string& temporary, const fs::path& path,
                        std::span<const std::span<const std::byte>> parts, FileAccess access) {
  if (!fd.valid()) return io_error("cannot create a file beside " + path.string() + ": " + last_error());
  const bool written =
      std::all_of(parts.begin(), parts.end(), [&](const auto part) { return write_all(fd.get(), part); });
  const mode_t mode = access == FileAccess::kOwnerOnly ? 0600 : 0666 & ~current_umask();
  if (!written || ::fchmod(fd.get(), mode) != 0 || ::fsync(fd.get()) != 0 || !fd.close() ||
      ::rename(temporary.c_str(), path.c_str()) != 0) {
    const Error failure = io_error("cannot write " + path.string() + ": " + last_error());
    ::unlink(temporary.c_str());
    return failure;
  }
  sync_directory(folder_of(path));
  return {};
}

}  // namespace

Status write_file_atomically(const fs::path& path, std::span<const std::byte> bytes, FileAccess access) {
  return write_file_atomically(path, std::span(&bytes, 1), access);
}

Status write_file_atomically(const fs::path& path, std::span<const std::span<const std::byte>> parts,
                             FileAccess access) {
  TRY_STATUS(check_replaceable(path));
  std::string temporary = path.string() + ".XXXXXX";
  FileDescriptor fd(::mkostemp(temporary.data(), O_CLOEXEC));
  return write_and_rename(std::move(fd), temporary, path, parts, access);
}

Status replace_own_file(const fs::path& path, std::span<const std::span<const std::byte>> parts) {
  TRY_STATUS(check_replaceable(path));
  const std::string temporary = path.string() + ".new";
  ::unlink(temporary.c_str());
  FileDescriptor fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  return write_and_rename(std::move(fd), temporary, path, parts, FileAccess::kShared);
}

Status write_file_atomically(const fs::path& path, std::string_view text, FileAccess access) {
  return write_file_atomically(path, std::as_bytes(std::span(text.data(), text.size())), access);
}

namespace {

template <typename Container>
Result<Container> read_whole(const fs::path& path, std::uint64_t limit) {
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    const std::string text = "cannot open " + path.string() + ": " + last_error();
    return errno == ENOENT ? not_found(text) : io_error(text);
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return io_error("cannot read " + path.string() + ": " + last_error());
  if (!S_ISREG(info.st_mode)) return invalid_input(path.string() + " is not a regular file");
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size > limit) {
    return invalid_input(path.string() + " has " + std::to_string(size) + " bytes, the limit is " +
                         std::to_string(limit));
  }
  Container content;
  content.resize(size);
  if (read_exactly(fd.get(), std::as_writable_bytes(std::span(content)))) return content;
  if (errno == 0) return io_error(path.string() + " became shorter while it was read");
  return io_error("cannot read " + path.string() + ": " + last_error());
}

}  // namespace

Result<std::vector<std::byte>> read_file(const fs::path& path, std::uint64_t limit) {
  return read_whole<std::vector<std::byte>>(path, limit);
}

Result<std::string> read_text_file(const fs::path& path, std::uint64_t limit) {
  return read_whole<std::string>(path, limit);
}

Result<StagedDirectory> StagedDirectory::create(const fs::path& target, bool replace) {
  std::error_code error;
  const fs::path clean = target.has_filename() ? target : target.parent_path();
  if (clean.empty()) return invalid_input("the output folder has an empty name");
  if (fs::exists(clean, error) && !replace &&
      !(fs::is_directory(clean, error) && fs::is_empty(clean, error))) {
    return invalid_input(clean.string() + " exists already; choose another folder or remove it first");
  }
  fs::create_directories(folder_of(clean), error);
  std::string staging = clean.string() + ".XXXXXX";
  if (::mkdtemp(staging.data()) == nullptr) {
    return io_error("cannot create a folder beside " + clean.string() + ": " + last_error());
  }
  fs::permissions(staging, fs::perms(0755), error);
  return StagedDirectory(staging, clean);
}

StagedDirectory::StagedDirectory(StagedDirectory&& other) noexcept
    : staging_(std::exchange(other.staging_, {})), target_(std::exchange(other.target_, {})) {}

StagedDirectory::~StagedDirectory() {
  std::error_code ignored;
  if (!staging_.empty()) fs::remove_all(staging_, ignored);
}

Status StagedDirectory::commit() {
  std::error_code error;
  fs::path old = staging_;
  // In one step, so that there is a folder of that name at every moment. Some file systems cannot.
  if (!fs::exists(target_, error)) {
    fs::rename(staging_, target_, error);
  } else if (::renameat2(AT_FDCWD, staging_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) != 0) {
    old += ".old";
    fs::rename(target_, old, error);
    if (!error) fs::rename(staging_, target_, error);
  }
  if (error) return io_error("cannot move the result to " + target_.string() + ": " + error.message());
  sync_directory(folder_of(target_));  // before the old one goes
  fs::remove_all(old, error);
  staging_.clear();
  return {};
}

}  // namespace aflguard
