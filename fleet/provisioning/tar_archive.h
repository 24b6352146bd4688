#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace aflguard::fleet {

/// A tar archive (POSIX ustar) in memory: files of root with a mode each, no times, so that the same content
/// gives the same bytes.
class TarArchive final {
 public:
  /// `name` is a relative path of at most 100 bytes; kInvalidInput otherwise.
  [[nodiscard]] Status add(const std::string& name, std::string_view content, unsigned mode);
  /// The bytes of the whole archive.
  [[nodiscard]] std::string finish() &&;

 private:
  std::string bytes_;
};

}  // namespace aflguard::fleet
