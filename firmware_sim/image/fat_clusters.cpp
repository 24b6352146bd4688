#include "firmware_sim/image/fat_clusters.h"

#include <charconv>

namespace aflguard::image {
namespace {

constexpr std::size_t kSectorBytes = 512;
constexpr std::uint64_t kFirstCluster = 2;
constexpr std::uint64_t kFatEntryBytes = 32;  // of the root folder, which FAT16 keeps before the clusters

struct Geometry {
  std::uint64_t first_cluster = 0;  ///< its offset in bytes
  std::uint64_t cluster_bytes = 0;
};

Result<Geometry> read_geometry(const std::string& sector) {
  const auto number = [&](std::size_t at, std::size_t bytes) {
    std::uint64_t value = 0;
    while (bytes-- > 0) value = value << 8 | static_cast<unsigned char>(sector[at + bytes]);
    return value;
  };
  if (sector.size() < kSectorBytes || number(510, 2) != 0xaa55) return corrupt("it is not a FAT file system");
  const std::uint64_t sector_bytes = number(11, 2);
  const std::uint64_t table_sectors = number(22, 2) != 0 ? number(22, 2) : number(36, 4);
  Geometry found;
  found.cluster_bytes = sector_bytes * number(13, 1);
  if (found.cluster_bytes == 0 || table_sectors == 0) return corrupt("it is not a FAT file system");
  found.first_cluster =
      sector_bytes * (number(14, 2) + number(16, 1) * table_sectors) + kFatEntryBytes * number(17, 2);
  return found;
}

/// "3-7" or "12" -> the first cluster and how many.
bool parse_run(const char* begin, const char* end, std::uint64_t& first, std::uint64_t& count) {
  auto parsed = std::from_chars(begin, end, first);
  if (parsed.ec != std::errc() || first < kFirstCluster) return false;
  count = 1;
  if (parsed.ptr == end) return true;
  std::uint64_t last = 0;
  if (*parsed.ptr != '-') return false;
  parsed = std::from_chars(parsed.ptr + 1, end, last);
  if (parsed.ec != std::errc() || parsed.ptr != end || last < first) return false;
  count = last - first + 1;
  return true;
}

}  // namespace

Result<std::vector<ByteRange>> file_ranges(const std::string& boot_sector, const std::string& listing) {
  TRY(const Geometry geometry, read_geometry(boot_sector));
  std::vector<ByteRange> ranges;
  for (std::size_t open = listing.find('<'); open != std::string::npos; open = listing.find('<', open + 1)) {
    const std::size_t close = listing.find('>', open);
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    if (close == std::string::npos ||
        !parse_run(listing.data() + open + 1, listing.data() + close, first, count)) {
      return corrupt("mshowfat lists '" + listing + "'");
    }
    ranges.push_back({geometry.first_cluster + (first - kFirstCluster) * geometry.cluster_bytes,
                      count * geometry.cluster_bytes});
  }
  return ranges;
}

}  // namespace aflguard::image
