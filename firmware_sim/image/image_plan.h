#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace aflguard::image {

/// Labels by which the board finds its file systems. FAT labels have at most 11 characters.
inline constexpr const char* kBootLabel = "AFLGUARD";
inline constexpr const char* kRootLabel = "aflguard-root";

/// Where the two partitions of a card's image are, in bytes from its start.
struct PartitionPlan {
  std::uint64_t image_bytes = 0;
  std::uint64_t boot_offset = 0;
  std::uint64_t boot_bytes = 0;
  std::uint64_t root_offset = 0;
  std::uint64_t root_bytes = 0;

  friend bool operator==(const PartitionPlan&, const PartitionPlan&) = default;
};

inline constexpr std::uint64_t kSector = 512;
inline constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kDefaultImageBytes = 2048 * kMebibyte;
inline constexpr std::uint64_t kSmallestImageBytes = 1536 * kMebibyte;
inline constexpr std::uint64_t kLargestImageBytes = std::uint64_t{256} << 30;

/// "2G", "1536M" (powers of two) or a number of bytes. kInvalidInput outside of the limits above, or when it
/// is not a whole number of mebibytes.
[[nodiscard]] Result<std::uint64_t> parse_image_size(const std::string& text);

/// Both partitions start at multiples of 4 MiB, as cards like it; the rest of the image is the root file
/// system.
[[nodiscard]] PartitionPlan plan_partitions(std::uint64_t image_bytes);

/// The partition table as sfdisk reads it.
[[nodiscard]] std::string sfdisk_script(const PartitionPlan& plan, std::uint32_t disk_id);

/// The boot partition that the first sector of an image or a card names: its offset in bytes. kInvalidInput
/// when the bytes are not a partition table whose first partition is FAT.
[[nodiscard]] Result<std::uint64_t> boot_partition_offset(const std::string& first_sector);
/// The same of the second partition, which must be one of Linux.
[[nodiscard]] Result<std::uint64_t> root_partition_offset(const std::string& first_sector);
/// Where the last of all partitions ends, in bytes: an image or card must be at least this large.
[[nodiscard]] std::uint64_t partitions_end(const std::string& first_sector);

}  // namespace aflguard::image
