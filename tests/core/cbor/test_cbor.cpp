#include <limits>

#include "core/cbor/cbor.h"
#include "tests/core/envelope/fleet.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

Bytes integer(std::int64_t value) {
  Bytes out;
  CborWriter(out).put_integer(value);
  return out;
}

void assert_bytes(const Bytes& expected, const Bytes& actual) {
  TEST_ASSERT_TRUE(expected == actual);
}

}  // namespace

TEST("Integers take the shortest head, as the examples of RFC 8949 do") {
  assert_bytes(bytes_of({0x00}), integer(0));
  assert_bytes(bytes_of({0x17}), integer(23));
  assert_bytes(bytes_of({0x18, 0x18}), integer(24));
  assert_bytes(bytes_of({0x18, 0x64}), integer(100));
  assert_bytes(bytes_of({0x19, 0x03, 0xe8}), integer(1000));
  assert_bytes(bytes_of({0x1a, 0x00, 0x0f, 0x42, 0x40}), integer(1000000));
  assert_bytes(bytes_of({0x20}), integer(-1));
  assert_bytes(bytes_of({0x39, 0x03, 0xe7}), integer(-1000));
  assert_bytes(bytes_of({0x3a, 0x00, 0x01, 0x00, 0x00}), integer(-65537));
}

TEST("Integers come back as they were written, at every edge of their heads") {
  constexpr auto kLowest = std::numeric_limits<std::int64_t>::min();
  constexpr auto kHighest = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{23}, std::int64_t{24}, std::int64_t{255}, std::int64_t{256},
        std::int64_t{65535}, std::int64_t{65536}, std::int64_t{4294967295}, std::int64_t{4294967296},
        kHighest, kLowest, std::int64_t{-1}, std::int64_t{-24}, std::int64_t{-25}, std::int64_t{-257}}) {
    const Bytes encoded = integer(value);
    CborReader reader(encoded);
    const auto back = reader.take_integer();
    ASSERT_OK(back);
    TEST_ASSERT_EQUAL_INT64(value, *back);
    ASSERT_OK(reader.expect_end());
  }
  Bytes encoded;
  CborWriter(encoded).put_unsigned(std::numeric_limits<std::uint64_t>::max());
  const auto back = CborReader(encoded).take_unsigned();
  ASSERT_OK(back);
  TEST_ASSERT_EQUAL_UINT64(std::numeric_limits<std::uint64_t>::max(), *back);
  ASSERT_CONTAINS(message_of(CborReader(encoded).take_integer()), "does not fit 64 bits");
}

TEST("Heads that are longer than they need be are refused") {
  for (const Bytes& encoded :
       {bytes_of({0x18, 0x17}), bytes_of({0x19, 0x00, 0xff}), bytes_of({0x1a, 0x00, 0x00, 0xff, 0xff}),
        bytes_of({0x1b, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff})}) {
    ASSERT_CONTAINS(message_of(CborReader(encoded).take_unsigned()), "longer than it need be");
  }
  ASSERT_CONTAINS(message_of(CborReader(bytes_of({0x58, 0x01, 0xaa})).take_bytes()),
                  "longer than it need be");
  ASSERT_CONTAINS(message_of(CborReader(bytes_of({0xb8, 0x01})).take_map()), "longer than it need be");
  ASSERT_CONTAINS(message_of(CborReader(bytes_of({0xd9, 0x00, 0x55, 0x40})).expect_tag(85)),
                  "longer than it need be");
  TEST_ASSERT_FALSE(CborReader(bytes_of({0xd8, 0x12, 0x84})).expect_tag(18).ok());
}

TEST("Indefinite lengths are refused for strings, arrays and maps") {
  TEST_ASSERT_FALSE(CborReader(bytes_of({0x5f, 0x41, 0x00, 0xff})).take_bytes().ok());
  TEST_ASSERT_FALSE(CborReader(bytes_of({0x7f, 0x61, 0x61, 0xff})).take_text().ok());
  TEST_ASSERT_FALSE(CborReader(bytes_of({0x9f, 0x00, 0xff})).expect_array(1).ok());
  TEST_ASSERT_FALSE(CborReader(bytes_of({0xbf, 0xff})).take_map().ok());
}

TEST("A length beyond the end is refused, up to the largest that can be written") {
  TEST_ASSERT_FALSE(CborReader(bytes_of({0x43, 0x00, 0x00})).take_bytes().ok());
  TEST_ASSERT_FALSE(
      CborReader(bytes_of({0x5b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00})).take_bytes().ok());
  TEST_ASSERT_FALSE(CborReader(bytes_of({0x7a, 0x7f, 0xff, 0xff, 0xff, 0x00})).take_text().ok());
  TEST_ASSERT_FALSE(CborReader(Bytes{}).take_unsigned().ok());
  TEST_ASSERT_FALSE(CborReader(Bytes{}).expect_tag(18).ok());
}

TEST("Another type than the expected one is refused and named") {
  ASSERT_CONTAINS(message_of(CborReader(bytes_of({0x60})).take_bytes()),
                  "needs a byte string at offset 0, finds a text");
  ASSERT_CONTAINS(message_of(CborReader(bytes_of({0xf6})).take_bool()), "needs a bool");
  // Half and single precision would be second encodings of the same number.
  TEST_ASSERT_FALSE(CborReader(bytes_of({0xf9, 0x3c, 0x00})).take_double().ok());
  TEST_ASSERT_FALSE(CborReader(bytes_of({0xfa, 0x3f, 0x80, 0x00, 0x00})).take_double().ok());
}

TEST("Strings are borrowed from the input, not copied") {
  const Bytes encoded = bytes_of({0x43, 1, 2, 3});
  CborReader reader(encoded);
  const auto bytes = reader.take_bytes();
  ASSERT_OK(bytes);
  TEST_ASSERT_EQUAL_PTR(encoded.data() + 1, bytes->data());
  TEST_ASSERT_EQUAL_size_t(4, reader.position());
}

TEST("Bytes after the last item are refused with their number") {
  const Bytes encoded = bytes_of({0x01, 0x02, 0x03});
  CborReader reader(encoded);
  ASSERT_OK(reader.take_unsigned());
  ASSERT_CONTAINS(message_of(reader.expect_end()), "2 bytes are left over");
}
