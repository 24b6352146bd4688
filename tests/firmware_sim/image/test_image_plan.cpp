#include "firmware_sim/image/image_plan.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::image;

namespace {

std::string refusal(const std::string& size) {
  const auto parsed = parse_image_size(size);
  TEST_ASSERT_FALSE(parsed.ok());
  return parsed.error().message;
}

/// A first sector with one partition.
std::string sector(unsigned char type, std::uint32_t start) {
  std::string bytes(512, '\0');
  bytes[446 + 4] = static_cast<char>(type);
  for (std::size_t i = 0; i < 4; ++i) bytes[446 + 8 + i] = static_cast<char>(start >> (8 * i));
  bytes[510] = '\x55';
  bytes[511] = '\xaa';
  return bytes;
}

}  // namespace

TEST("Sizes are whole mebibytes between the limits, in bytes or with a unit") {
  TEST_ASSERT_EQUAL_UINT64(std::uint64_t{2} << 30, parse_image_size("2G").value());
  TEST_ASSERT_EQUAL_UINT64(std::uint64_t{2} << 30, parse_image_size("2048MiB").value());
  TEST_ASSERT_EQUAL_UINT64(std::uint64_t{2} << 30, parse_image_size("2147483648").value());
  TEST_ASSERT_EQUAL_UINT64(kSmallestImageBytes, parse_image_size("1536M").value());
  TEST_ASSERT_EQUAL_UINT64(kLargestImageBytes, parse_image_size("256G").value());
  ASSERT_CONTAINS(refusal("1535M"), "an image of 1535M is outside of 1536M to 256G");
  ASSERT_CONTAINS(refusal("257G"), "outside of");
  ASSERT_CONTAINS(refusal("18446744073709551615G"), "outside of");
  ASSERT_CONTAINS(refusal("2147483649"), "whole number of mebibytes");
  for (const char* text : {"", "G", "2T", "2 G", "-2G", "2.5G", "99999999999999999999G"}) {
    ASSERT_CONTAINS(refusal(text), "is not a size; write e.g. 2G");
  }
}

TEST("The partitions follow each other, begin where cards like it, and fill the image") {
  for (const std::uint64_t bytes : {kSmallestImageBytes, kDefaultImageBytes, kLargestImageBytes}) {
    const PartitionPlan plan = plan_partitions(bytes);
    TEST_ASSERT_EQUAL_UINT64(0, plan.boot_offset % (4 * kMebibyte));
    TEST_ASSERT_EQUAL_UINT64(0, plan.root_offset % (4 * kMebibyte));
    TEST_ASSERT_EQUAL_UINT64(plan.root_offset, plan.boot_offset + plan.boot_bytes);
    TEST_ASSERT_EQUAL_UINT64(bytes, plan.root_offset + plan.root_bytes);
  }
}

TEST("sfdisk is told both partitions in sectors") {
  TEST_ASSERT_EQUAL_STRING(
      "label: dos\nlabel-id: 0x0000abcd\nunit: sectors\nstart=8192, size=524288, type=c, bootable\n"
      "start=532480, size=3661824, type=83\n",
      sfdisk_script(plan_partitions(kDefaultImageBytes), 0xabcd).c_str());
}

TEST("A card's boot partition is found, and what is not a card for a Pi is refused") {
  TEST_ASSERT_EQUAL_UINT64(std::uint64_t{8192} * 512, boot_partition_offset(sector(0x0c, 8192)).value());
  TEST_ASSERT_EQUAL_UINT64(std::uint64_t{0xfffffffe} * 512,
                           boot_partition_offset(sector(0x0b, 0xfffffffe)).value());
  ASSERT_CONTAINS(boot_partition_offset(sector(0x83, 2048)).error().message, "not FAT");
  ASSERT_CONTAINS(boot_partition_offset(sector(0x0c, 0)).error().message, "not FAT");
  ASSERT_CONTAINS(boot_partition_offset(sector(0x0c, 8192).substr(0, 511)).error().message,
                  "no partition table");
  ASSERT_CONTAINS(boot_partition_offset(std::string(512, '\0')).error().message, "no partition table");
}

TEST("A card's root partition is its second one, and must be Linux's") {
  std::string bytes = sector(0x0c, 8192);
  ASSERT_CONTAINS(root_partition_offset(bytes).error().message, "second partition is not one of Linux");
  bytes.replace(446 + 16, 16, sector(0x83, 532480).substr(446, 16));
  TEST_ASSERT_EQUAL_UINT64(std::uint64_t{532480} * 512, root_partition_offset(bytes).value());
  TEST_ASSERT_EQUAL_UINT64(std::uint64_t{8192} * 512, boot_partition_offset(bytes).value());
}
