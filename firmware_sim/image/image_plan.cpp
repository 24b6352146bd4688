#include "firmware_sim/image/image_plan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace aflguard::image {
namespace {

constexpr std::uint64_t kBootOffset = 4 * kMebibyte;
/// Two kernels with their initial file systems fit: an update needs both for a while.
constexpr std::uint64_t kBootBytes = 256 * kMebibyte;
constexpr std::size_t kFirstEntry = 446;
constexpr std::size_t kEntryBytes = 16;
constexpr std::size_t kEntries = 4;

struct PartitionEntry {
  std::uint8_t type = 0;
  std::uint64_t start = 0;  ///< in sectors
  std::uint64_t sectors = 0;
};

Result<PartitionEntry> partition_entry(const std::string& first_sector, std::size_t index) {
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(first_sector[at]); };
  if (first_sector.size() < kSector || byte(510) != 0x55 || byte(511) != 0xaa) {
    return invalid_input("it has no partition table of the kind that Raspberry Pis start from");
  }
  const std::size_t at = kFirstEntry + index * kEntryBytes;
  PartitionEntry entry;
  entry.type = byte(at + 4);
  for (std::size_t i = 4; i-- > 0;) {
    entry.start = entry.start << 8 | byte(at + 8 + i);
    entry.sectors = entry.sectors << 8 | byte(at + 12 + i);
  }
  return entry;
}

std::string sectors(std::uint64_t bytes) {
  return std::to_string(bytes / kSector);
}

}  // namespace

Result<std::uint64_t> parse_image_size(const std::string& text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, number);
  const std::string unit(rest, end);
  const std::uint64_t scale = unit == "G" || unit == "GiB"   ? std::uint64_t{1} << 30
                              : unit == "M" || unit == "MiB" ? kMebibyte
                                                             : 1;
  if (problem != std::errc() || (scale == 1 && !unit.empty())) {
    return invalid_input("'" + text + "' is not a size; write e.g. 2G or 1536M");
  }
  // The limit is looked at before the product can overflow.
  if (number > kLargestImageBytes / scale || number * scale < kSmallestImageBytes) {
    return invalid_input("an image of " + text + " is outside of " +
                         std::to_string(kSmallestImageBytes / kMebibyte) + "M to " +
                         std::to_string(kLargestImageBytes >> 30) +
                         "G; a board grows its file system to the card by itself");
  }
  if (number * scale % kMebibyte != 0) {
    return invalid_input("a size of " + text + " bytes is not a whole number of mebibytes");
  }
  return number * scale;
}

PartitionPlan plan_partitions(std::uint64_t image_bytes) {
  PartitionPlan plan;
  plan.image_bytes = image_bytes;
  plan.boot_offset = kBootOffset;
  plan.boot_bytes = kBootBytes;
  plan.root_offset = kBootOffset + kBootBytes;
  plan.root_bytes = image_bytes - plan.root_offset;
  return plan;
}

std::string sfdisk_script(const PartitionPlan& plan, std::uint32_t disk_id) {
  std::array<char, 16> id{};
  std::snprintf(id.data(), id.size(), "0x%08x", static_cast<unsigned>(disk_id));
  return std::string("label: dos\nlabel-id: ") + id.data() + "\nunit: sectors\n" +
         "start=" + sectors(plan.boot_offset) + ", size=" + sectors(plan.boot_bytes) +
         ", type=c, bootable\n" + "start=" + sectors(plan.root_offset) +
         ", size=" + sectors(plan.root_bytes) + ", type=83\n";
}

Result<std::uint64_t> boot_partition_offset(const std::string& first_sector) {
  TRY(const PartitionEntry entry, partition_entry(first_sector, 0));
  if ((entry.type != 0x0b && entry.type != 0x0c && entry.type != 0x0e) || entry.start == 0) {
    return invalid_input("its first partition is not FAT, so it is not a card for a Raspberry Pi");
  }
  return entry.start * kSector;
}

Result<std::uint64_t> root_partition_offset(const std::string& first_sector) {
  TRY(const PartitionEntry entry, partition_entry(first_sector, 1));
  if (entry.type != 0x83 || entry.start == 0)
    return invalid_input("its second partition is not one of Linux, so it is not a card for a Raspberry Pi");
  return entry.start * kSector;
}

std::uint64_t partitions_end(const std::string& first_sector) {
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < kEntries; ++i) {
    const auto entry = partition_entry(first_sector, i);
    if (entry.ok() && entry->type != 0) end = std::max(end, (entry->start + entry->sectors) * kSector);
  }
  return end;
}

}  // namespace aflguard::image
