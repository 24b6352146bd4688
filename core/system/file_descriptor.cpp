#include "core/system/file_descriptor.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace aflguard {

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    close();
    number_ = other.release();
  }
  return *this;
}

bool FileDescriptor::close() {
  const int number = release();
  // Not repeated after EINTR: Linux has closed it then, and the number may belong to another thread.
  return number < 0 || ::close(number) == 0;
}

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return io_error(std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

Result<FileDescriptor> open_log(const std::filesystem::path& path) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!file.valid()) return io_error("cannot write " + path.string() + ": " + std::strerror(errno));
  return file;
}

bool write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

bool write_all(int file, std::string_view text) {
  return write_all(file, std::as_bytes(std::span(text.data(), text.size())));
}

bool read_exactly(int file, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    errno = 0;
    const ssize_t got = ::read(file, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

bool set_close_on_exec(int file) {
  const int flags = ::fcntl(file, F_GETFD);
  return flags >= 0 && ::fcntl(file, F_SETFD, flags | FD_CLOEXEC) == 0;
}

}  // namespace aflguard
