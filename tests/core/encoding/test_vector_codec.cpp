#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/random.h"
#include "core/compression/compression.h"
#include "core/encoding/vector_codec.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

constexpr std::size_t kMany = 100'000;
constexpr std::array kAll = {Encoding::kFloat32, Encoding::kFloat16, Encoding::kInt8, Encoding::kInt4};

std::vector<float> spread_numbers(std::size_t count) {
  Random random(1);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = static_cast<float>(random.normal());
  return numbers;
}

EncodedView view(const EncodedVector& vector) {
  return {vector.encoding, vector.count, vector.packing, vector.bytes};
}

}  // namespace

TEST("Every encoding comes back within its error, plain and packed") {
  const auto numbers = spread_numbers(10'000);
  const std::array<double, kEncodings> most_error = {0, 0.0005, 0.01, 0.2};
  for (const Encoding encoding : kAll) {
    const auto plain = encode_vector(numbers, encoding, 3);
    ASSERT_OK(plain);
    const auto small = packed(*plain);
    ASSERT_OK(small);
    TEST_ASSERT_TRUE(small->bytes.size() <= plain->bytes.size());
    const auto back = decode_vector(view(*plain), kMany);
    ASSERT_OK(back);
    TEST_ASSERT_TRUE(relative_error(numbers, *back) <= most_error[static_cast<std::size_t>(encoding)]);
    const auto unpacked = decode_vector(view(*small), kMany);
    ASSERT_OK(unpacked);
    TEST_ASSERT_TRUE(*unpacked == *back);
  }
}

TEST("A vector that compressing does not make smaller stays plain") {
  Random random(1);
  EncodedVector vector{Encoding::kInt8, 64, Packing::kPlain, Bytes(66)};
  for (std::byte& byte : vector.bytes) byte = static_cast<std::byte>(random.next());
  const auto result = packed(vector);
  ASSERT_OK(result);
  TEST_ASSERT_TRUE(result->packing == Packing::kPlain);
}

TEST("A count of none or of more than the limit is refused, whatever the bytes are") {
  const auto vector = encode_vector(spread_numbers(100), Encoding::kInt8, 1).value();
  EncodedView claim = view(vector);
  claim.count = 0;
  ASSERT_CONTAINS(message_of(decode_vector(claim, 100)), "0 numbers, 1 to 100 are taken");
  claim.count = 101;
  ASSERT_CONTAINS(message_of(decode_vector(claim, 100)), "101 numbers");
  claim.count = std::numeric_limits<std::uint64_t>::max();
  ASSERT_CONTAINS(message_of(decode_vector(claim, 100)), "1 to 100 are taken");
  ASSERT_OK(decode_vector(view(vector), 100));
}

TEST("Bytes that do not fit the count are refused, one more and one less") {
  for (const Encoding encoding : kAll) {
    for (const Packing packing : {Packing::kPlain, Packing::kZstd}) {
      auto vector = encode_vector(std::vector<float>(1000, 0.5F), encoding, 1).value();
      if (packing == Packing::kZstd) vector = packed(vector).value();
      TEST_ASSERT_TRUE(vector.packing == packing);
      for (const std::uint64_t count : {996, 999, 1001, 1024}) {
        EncodedView wrong = view(vector);
        wrong.count = count;
        const bool same_size = encoded_size(encoding, count) == encoded_size(encoding, 1000);
        if (!same_size) TEST_ASSERT_TRUE(decode_vector(wrong, kMany).error().kind == ErrorKind::kCorrupt);
      }
      for (const int change : {-1, 1}) {
        EncodedVector wrong = vector;
        wrong.bytes.resize(wrong.bytes.size() + change);
        TEST_ASSERT_TRUE(decode_vector(view(wrong), kMany).error().kind == ErrorKind::kCorrupt);
      }
    }
  }
}

TEST("A bomb of compressed bytes is refused by its head") {
  const EncodedVector bomb{Encoding::kInt8, 100, Packing::kZstd,
                           compress(Bytes(std::size_t{64} << 20)).value()};
  ASSERT_CONTAINS(message_of(decode_vector(view(bomb), kMany)), "would become 67108864 bytes, 104");
}

TEST("Numbers that are not finite are refused in every encoding, packed too") {
  const std::uint32_t nan = 0x7fc00000;
  const std::uint16_t half_infinity = 0xfc00;
  const std::uint16_t scale_nan = 0x7fc0;
  for (const Encoding encoding : kAll) {
    auto vector = encode_vector(std::vector<float>(1000, 0.5F), encoding, 1).value();
    if (encoding == Encoding::kFloat32) std::memcpy(vector.bytes.data() + 4, &nan, 4);
    if (encoding == Encoding::kFloat16) std::memcpy(vector.bytes.data() + 2, &half_infinity, 2);
    if (encoding == Encoding::kInt8 || encoding == Encoding::kInt4)
      std::memcpy(vector.bytes.data() + 2, &scale_nan, 2);
    TEST_ASSERT_TRUE(decode_vector(view(vector), kMany).error().kind == ErrorKind::kInvalidInput);
    const auto small = packed(vector).value();
    TEST_ASSERT_TRUE(small.packing == Packing::kZstd);
    TEST_ASSERT_TRUE(decode_vector(view(small), kMany).error().kind == ErrorKind::kInvalidInput);
  }
}

TEST("The automatic choice is the smallest encoding that errs by less than it may") {
  const auto numbers = spread_numbers(10'000);
  const auto choose = [&](const EncodingSet& taken, double most_error) {
    return choose_encoding(numbers, taken, most_error, 1).value();
  };
  const EncodingSet all = EncodingSet::all();
  TEST_ASSERT_TRUE(choose(all, kMostRelativeError).vector.encoding == Encoding::kInt8);
  TEST_ASSERT_TRUE(choose(all, 0.3).vector.encoding == Encoding::kInt4);
  TEST_ASSERT_TRUE(choose(all, 0.001).vector.encoding == Encoding::kFloat16);
  TEST_ASSERT_TRUE(choose(all, 0).vector.encoding == Encoding::kFloat32);
  EncodingSet without = all;
  without.remove(Encoding::kInt8);
  TEST_ASSERT_TRUE(choose(without, kMostRelativeError).vector.encoding == Encoding::kFloat16);
  TEST_ASSERT_TRUE(choose(EncodingSet{}, kMostRelativeError).vector.encoding == Encoding::kFloat32);
  TEST_ASSERT_TRUE(choose(EncodingSet{}, kMostRelativeError).vector.packing == Packing::kPlain);
}

TEST("The error of the choice is that of what a receiver decodes, at every length") {
  // Parts of a vector are decoded one after the other: lengths around the ends of blocks and parts.
  for (const std::size_t count : {1UL, 63UL, 64UL, 65UL, 4095UL, 4096UL, 4097UL, 10'001UL}) {
    const auto numbers = spread_numbers(count);
    for (const Encoding encoding : kAll) {
      EncodingSet taken;
      taken.encodings = 0;
      taken.add(encoding);
      const auto chosen = choose_encoding(numbers, taken, 1e9, 1);
      ASSERT_OK(chosen);
      TEST_ASSERT_TRUE(chosen->vector.encoding == encoding);
      const auto back = decode_vector(view(chosen->vector), kMany);
      ASSERT_OK(back);
      TEST_ASSERT_EQUAL_DOUBLE(relative_error(numbers, *back), chosen->error);
    }
  }
}

TEST("An encoding that cannot hold a number gives way to a larger one") {
  std::vector<float> numbers(100, 1.0F);
  numbers[7] = 1e6F;  // over the largest half, and drowns its neighbours in a block
  EncodingSet halves;
  halves.add(Encoding::kFloat16);
  TEST_ASSERT_TRUE(choose_encoding(numbers, halves, 1, 1).value().vector.encoding == Encoding::kFloat32);
  numbers[7] = std::numeric_limits<float>::max();
  const auto chosen = choose_encoding(numbers, EncodingSet::all(), kMostRelativeError, 1);
  ASSERT_OK(chosen);
  TEST_ASSERT_TRUE(chosen->vector.encoding == Encoding::kFloat32);
}

TEST("Zeros are without error in the smallest encoding") {
  const std::vector<float> numbers(100, 0.0F);
  const auto chosen = choose_encoding(numbers, EncodingSet::all(), kMostRelativeError, 1);
  ASSERT_OK(chosen);
  TEST_ASSERT_TRUE(chosen->vector.encoding == Encoding::kInt4);
  TEST_ASSERT_EQUAL_DOUBLE(0, chosen->error);
}
