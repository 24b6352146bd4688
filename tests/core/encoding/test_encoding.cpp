#include "core/encoding/encoding.h"
#include "tests/support/test.h"

using namespace aflguard;

TEST("Numbers of encodings and packings are those of docs/wire-format.md") {
  TEST_ASSERT_EQUAL_INT(0, static_cast<int>(Encoding::kFloat32));
  TEST_ASSERT_EQUAL_INT(1, static_cast<int>(Encoding::kFloat16));
  TEST_ASSERT_EQUAL_INT(2, static_cast<int>(Encoding::kInt8));
  TEST_ASSERT_EQUAL_INT(3, static_cast<int>(Encoding::kInt4));
  TEST_ASSERT_EQUAL_INT(0, static_cast<int>(Packing::kPlain));
  TEST_ASSERT_EQUAL_INT(1, static_cast<int>(Packing::kZstd));
}

TEST("Every encoding has a name that leads back to it") {
  for (std::size_t i = 0; i < kEncodings; ++i) {
    const auto encoding = static_cast<Encoding>(i);
    TEST_ASSERT_TRUE(parse_encoding(to_string(encoding)) == encoding);
  }
  TEST_ASSERT_FALSE(parse_encoding("auto").has_value());
}

TEST("Sizes count a scale of two bytes for each block that is begun") {
  TEST_ASSERT_EQUAL_size_t(4 * 65, encoded_size(Encoding::kFloat32, 65));
  TEST_ASSERT_EQUAL_size_t(2 * 65, encoded_size(Encoding::kFloat16, 65));
  TEST_ASSERT_EQUAL_size_t(2 + 64, encoded_size(Encoding::kInt8, 64));
  TEST_ASSERT_EQUAL_size_t(4 + 65, encoded_size(Encoding::kInt8, 65));
  TEST_ASSERT_EQUAL_size_t(4 + 33, encoded_size(Encoding::kInt4, 65));
}

TEST("A set knows its members, and nothing of numbers that it does not know") {
  EncodingSet set;
  TEST_ASSERT_TRUE(set.has(Encoding::kFloat32));
  TEST_ASSERT_FALSE(set.has(Encoding::kInt8));
  TEST_ASSERT_FALSE(set.has(Packing::kZstd));
  set.add(Encoding::kInt8);
  TEST_ASSERT_TRUE(set.has(Encoding::kInt8));
  set.encodings |= std::uint64_t{1} << 63;
  TEST_ASSERT_TRUE(set.has(Encoding::kInt8));
  set.remove(Encoding::kInt8);
  TEST_ASSERT_FALSE(set.has(Encoding::kInt8));
}
