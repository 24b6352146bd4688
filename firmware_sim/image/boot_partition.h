#pragma once

#include <filesystem>
#include <string>

#include "core/base/result.h"

namespace aflguard::image {

/// The archive that a board takes its identity from.
inline constexpr const char* kIdentityFile = "aflguard-identity.tar";

/// A file for a board's boot partition.
struct BootFile {
  std::string name;
  std::string content;
};

/// Where the boot partition of an image file or a card (/dev/...) begins, in bytes. Errors name the file.
[[nodiscard]] Result<std::uint64_t> find_boot_partition(const std::filesystem::path& image);
/// The same for the partition that holds the root file system.
[[nodiscard]] Result<std::uint64_t> find_root_partition(const std::filesystem::path& image);

/// Makes an empty FAT file system of `bytes` at `offset` of the image.
[[nodiscard]] Status format_boot_partition(const std::filesystem::path& image, std::uint64_t offset,
                                           std::uint64_t bytes);
/// Copies everything in `folder` there. No mount is involved (mtools).
[[nodiscard]] Status fill_boot_partition(const std::filesystem::path& image, std::uint64_t offset,
                                         const std::filesystem::path& folder);
/// What the file system at `offset` is called; empty when it has no name. kNotFound names a missing program.
[[nodiscard]] Result<std::string> boot_partition_label(const std::filesystem::path& image,
                                                       std::uint64_t offset);
/// Puts one file there, in place of one of that name, whose content is overwritten: it may have been another
/// board's key. On the disk when it returns.
[[nodiscard]] Status put_boot_file(const std::filesystem::path& image, std::uint64_t offset,
                                   const BootFile& file);
/// Copies the file of that name from there to `target`. kIo, with what mtools said, when there is none.
[[nodiscard]] Status take_boot_file(const std::filesystem::path& image, std::uint64_t offset,
                                    const std::string& name, const std::filesystem::path& target);

}  // namespace aflguard::image
