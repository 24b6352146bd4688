#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace aflguard {

enum class FileAccess {
  kShared,     ///< 0666 less the umask
  kOwnerOnly,  ///< 0600 from its first byte on: for keys
};

/// Writes the whole file or nothing: a temporary neighbour is written, synced and renamed over `path`.
/// After success the content survives a power loss; after failure `path` is as it was. kInvalidInput when
/// `path` is, or leads to, something else than a file: a device, a pipe, a folder.
[[nodiscard]] Status write_file_atomically(const std::filesystem::path& path,
                                           std::span<const std::byte> bytes,
                                           FileAccess access = FileAccess::kShared);
/// The same for parts that stand one after the other in the file, so that they need not be joined first.
[[nodiscard]] Status write_file_atomically(const std::filesystem::path& path,
                                           std::span<const std::span<const std::byte>> parts,
                                           FileAccess access = FileAccess::kShared);
[[nodiscard]] Status write_file_atomically(const std::filesystem::path& path, std::string_view text,
                                           FileAccess access = FileAccess::kShared);
/// The same for a file that has one writer and is written again and again: the temporary neighbour is always
/// PATH.new, so that writes which a power cut ended never leave more than that one.
[[nodiscard]] Status replace_own_file(const std::filesystem::path& path,
                                      std::span<const std::span<const std::byte>> parts);

/// The whole file; kInvalidInput when it is larger than `limit` bytes (checked before allocating).
[[nodiscard]] Result<std::vector<std::byte>> read_file(const std::filesystem::path& path,
                                                       std::uint64_t limit = std::uint64_t{1} << 32);
[[nodiscard]] Result<std::string> read_text_file(const std::filesystem::path& path,
                                                 std::uint64_t limit = std::uint64_t{1} << 28);

/// A new folder beside its final place: fill `path()`, then `commit()` renames it there.
/// Destroyed without commit, it removes itself: nothing half-written stays behind.
class StagedDirectory final {
 public:
  /// kInvalidInput when `target` exists and is not an empty folder, unless `replace` is set.
  [[nodiscard]] static Result<StagedDirectory> create(const std::filesystem::path& target, bool replace);
  StagedDirectory(StagedDirectory&& other) noexcept;
  StagedDirectory& operator=(StagedDirectory&&) = delete;
  StagedDirectory(const StagedDirectory&) = delete;
  ~StagedDirectory();

  [[nodiscard]] const std::filesystem::path& path() const { return staging_; }
  [[nodiscard]] Status commit();

 private:
  StagedDirectory(std::filesystem::path staging, std::filesystem::path target)
      : staging_(std::move(staging)), target_(std::move(target)) {}
  std::filesystem::path staging_;
  std::filesystem::path target_;
};

}  // namespace aflguard
