#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/result.h"

namespace aflguard {

/// Owns one file descriptor: a file, a socket, an end of a pipe. Closes it at the end.
class FileDescriptor final {
 public:
  FileDescriptor() = default;
  /// Below 0: owns nothing, as after an open() that failed; errno is left as it is.
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { close(); }

  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool valid() const { return number_ >= 0; }
  /// The caller closes it from now on.
  [[nodiscard]] int release() { return std::exchange(number_, -1); }
  /// False when the system reports an error of an earlier write. Nothing happens when it owns nothing.
  bool close();

 private:
  int number_ = -1;
};

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

/// Both ends are closed in programs that this process starts.
[[nodiscard]] Result<Pipe> make_pipe();

/// A log: made for its owner alone when it is missing; what is written goes to its end.
[[nodiscard]] Result<FileDescriptor> open_log(const std::filesystem::path& path);

/// Writes everything, to something that blocks. False when that fails: errno says why.
[[nodiscard]] bool write_all(int file, std::span<const std::byte> bytes);
[[nodiscard]] bool write_all(int file, std::string_view text);

/// Fills `bytes`, from something that blocks. False when that fails: errno says why, and is 0 at the end of
/// the file.
[[nodiscard]] bool read_exactly(int file, std::span<std::byte> bytes);

/// Programs that this process starts do not get it. For what a library opened; our own files are opened so.
[[nodiscard]] bool set_close_on_exec(int file);

}  // namespace aflguard
