#include "firmware_sim/image/fat_clusters.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::image;

namespace {

void put(std::string& sector, std::size_t at, std::uint32_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) sector[at + i] = static_cast<char>(value >> (8 * i));
}

/// 512-byte sectors, 2 per cluster, 32 reserved ones, two tables of 100.
std::string fat32() {
  std::string sector(512, '\0');
  put(sector, 11, 512, 2);
  put(sector, 13, 2, 1);
  put(sector, 14, 32, 2);
  put(sector, 16, 2, 1);
  put(sector, 36, 100, 4);
  put(sector, 510, 0xaa55, 2);
  return sector;
}

}  // namespace

TEST("A file's clusters are found behind the tables, one by one and in runs") {
  const auto ranges = file_ranges(fat32(), "::/a <3-5> <9>\n");
  ASSERT_OK(ranges);
  TEST_ASSERT_EQUAL_size_t(2, ranges->size());
  const std::uint64_t first = 512 * (32 + 200);
  TEST_ASSERT_TRUE((*ranges)[0] == (ByteRange{first + 1024, 3 * 1024}));
  TEST_ASSERT_TRUE((*ranges)[1] == (ByteRange{first + 7 * 1024, 1024}));
}

TEST("FAT16 keeps its root folder before the first cluster") {
  std::string sector = fat32();
  put(sector, 36, 0, 4);
  put(sector, 22, 100, 2);
  put(sector, 17, 512, 2);
  const auto ranges = file_ranges(sector, "::/a <2>");
  ASSERT_OK(ranges);
  TEST_ASSERT_EQUAL_UINT64(512 * (32 + 200) + 512 * 32, ranges->front().offset);
}

TEST("An empty file has no clusters; what is not a file system or no listing is refused") {
  TEST_ASSERT_TRUE(file_ranges(fat32(), "::/empty")->empty());
  TEST_ASSERT_FALSE(file_ranges(std::string(512, 'x'), "::/a <3>").ok());
  TEST_ASSERT_FALSE(file_ranges("short", "::/a <3>").ok());
  for (const char* listing : {"<1>", "<x>", "<5-3>", "<3", "<3-4x>", "<>"})
    TEST_ASSERT_FALSE_MESSAGE(file_ranges(fat32(), listing).ok(), listing);
}
