#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace aflguard::image {

/// Bytes of a FAT file system, counted from its beginning.
struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// Where a file's content lies: of the file system whose first sector is `boot_sector`, the clusters that
/// mshowfat has listed ("::/name <3-7> <12>"). kCorrupt when the sector is none of FAT's.
[[nodiscard]] Result<std::vector<ByteRange>> file_ranges(const std::string& boot_sector,
                                                         const std::string& listing);

}  // namespace aflguard::image
