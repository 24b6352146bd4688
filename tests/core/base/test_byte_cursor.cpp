#include <vector>

#include "core/base/byte_cursor.h"
#include "tests/support/test.h"

using namespace aflguard;

TEST("Numbers come back in either byte order") {
  std::vector<std::byte> bytes;
  ByteWriter writer(bytes);
  writer.put_little_endian(std::uint32_t{0x01020304});
  writer.put_big_endian(std::uint32_t{0x01020304});
  writer.put_little_endian(1.5F);
  TEST_ASSERT_EQUAL_HEX8(0x04, std::to_integer<int>(bytes[0]));
  TEST_ASSERT_EQUAL_HEX8(0x01, std::to_integer<int>(bytes[4]));
  ByteReader reader(bytes);
  TEST_ASSERT_EQUAL_HEX32(0x01020304, *reader.take_little_endian<std::uint32_t>());
  TEST_ASSERT_EQUAL_HEX32(0x01020304, *reader.take_big_endian<std::uint32_t>());
  TEST_ASSERT_EQUAL_FLOAT(1.5F, *reader.take_little_endian<float>());
  TEST_ASSERT_EQUAL_size_t(0, reader.remaining());
}

TEST("Reading past the end is refused and moves nothing") {
  const std::vector<std::byte> bytes(3);
  ByteReader reader(bytes);
  const auto result = reader.take_little_endian<std::uint32_t>();
  TEST_ASSERT_FALSE(result.ok());
  ASSERT_CONTAINS(result.error().message, "only 3 remain");
  TEST_ASSERT_EQUAL_size_t(3, reader.remaining());
}
