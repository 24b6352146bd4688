#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/system/file_descriptor.h"

namespace aflguard::gateway {

/// How far a store's updates were answered, in a small file beside it. A store that holds less has lost what
/// devices rely on: its log was cut or removed, or the file is an older copy.
class AnsweredMark final {
 public:
  struct Content {
    std::string store;            ///< which one, 32 hexadecimal digits
    std::uint64_t iteration = 0;  ///< of the last update that may have been answered
    friend bool operator==(const Content&, const Content&) = default;
  };

  /// None when there is no such file. kCorrupt when it is damaged so that it says nothing.
  [[nodiscard]] static Result<std::optional<Content>> read(const std::filesystem::path& file);
  /// Makes the file, or continues one that read() has understood.
  [[nodiscard]] static Result<AnsweredMark> open(const std::filesystem::path& file, const Content& content);

  /// After a commit and before its answers. Survives the end of this program at once; a power loss with
  /// sync().
  [[nodiscard]] Status write(std::uint64_t iteration);
  [[nodiscard]] Status sync();

 private:
  AnsweredMark(std::filesystem::path file, FileDescriptor fd, std::string store);

  std::filesystem::path file_;
  FileDescriptor fd_;
  std::string store_;
  unsigned slot_ = 0;  ///< the next to be written
};

}  // namespace aflguard::gateway
