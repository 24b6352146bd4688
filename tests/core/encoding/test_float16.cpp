#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/encoding/float16.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

std::uint16_t encoded(float number) {
  std::array<std::byte, 2> bytes{};
  ASSERT_OK(encode_float16(std::span(&number, 1), bytes));
  return std::bit_cast<std::uint16_t>(bytes);
}

float decoded(std::uint16_t half) {
  const auto bytes = std::bit_cast<std::array<std::byte, 2>>(half);
  float number = 0;
  decode_float16(bytes, std::span(&number, 1));
  return number;
}

}  // namespace

TEST("Halves have the bits of IEEE 754 binary16") {
  TEST_ASSERT_EQUAL_HEX16(0x3c00, encoded(1.0F));
  TEST_ASSERT_EQUAL_HEX16(0xc100, encoded(-2.5F));
  TEST_ASSERT_EQUAL_HEX16(0x8000, encoded(-0.0F));
  TEST_ASSERT_EQUAL_HEX16(0x7bff, encoded(65504.0F));
  TEST_ASSERT_EQUAL_HEX16(0x0400, encoded(0x1p-14F));  // the smallest normal one
  TEST_ASSERT_EQUAL_HEX16(0x0001, encoded(0x1p-24F));  // the smallest of all
  TEST_ASSERT_EQUAL_HEX16(0x03ff, encoded(1023 * 0x1p-24F));
}

TEST("Rounding goes to the nearest, and to the even one of two") {
  TEST_ASSERT_EQUAL_HEX16(0x3c00, encoded(1.0F + 0x1p-11F));      // half way, 1 is even
  TEST_ASSERT_EQUAL_HEX16(0x3c02, encoded(1.0F + 3 * 0x1p-11F));  // half way, up to even
  TEST_ASSERT_EQUAL_HEX16(0x3c01, encoded(1.0F + 0x1.01p-11F));
  TEST_ASSERT_EQUAL_HEX16(0x0000, encoded(0x1p-25F));  // half way to the smallest
  TEST_ASSERT_EQUAL_HEX16(0x0002, encoded(0x1.8p-24F));
  TEST_ASSERT_EQUAL_HEX16(0x0400, encoded(0x1.fff8p-15F));  // up into the normal ones
  TEST_ASSERT_EQUAL_HEX16(0x7bff, encoded(65519.0F));
}

TEST("Every finite half comes back as itself") {
  for (std::uint32_t half = 0; half < 0x10000; ++half) {
    if ((half & 0x7c00) == 0x7c00) continue;
    const auto bits = static_cast<std::uint16_t>(half);
    TEST_ASSERT_EQUAL_HEX16(bits, encoded(decoded(bits)));
  }
  TEST_ASSERT_EQUAL_FLOAT(0x1p-24F, decoded(1));
  TEST_ASSERT_EQUAL_FLOAT(65504.0F, decoded(0x7bff));
}

TEST("A number above the largest half is an error, and so is what is not finite on the way back") {
  std::array<std::byte, 2> bytes{};
  for (const float large : {65520.0F, -65520.0F, 3.4e38F}) {
    ASSERT_CONTAINS(message_of(encode_float16(std::span(&large, 1), bytes)), "too large for fp16");
  }
  for (const auto half : std::initializer_list<std::uint16_t>{0x7c00, 0xfc00, 0x7e00, 0x7c01}) {
    std::memcpy(bytes.data(), &half, 2);
    TEST_ASSERT_FALSE(float16_finite(bytes));
  }
  const std::uint16_t largest = 0xfbff;
  std::memcpy(bytes.data(), &largest, 2);
  TEST_ASSERT_TRUE(float16_finite(bytes));
}
