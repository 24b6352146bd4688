#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/random.h"
#include "core/encoding/block_rounding.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

std::vector<float> normal_numbers(std::size_t count, std::uint64_t seed = 1) {
  Random random(seed);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = static_cast<float>(random.normal());
  return numbers;
}

Bytes encoded(Encoding encoding, std::span<const float> numbers, std::uint64_t seed = 7) {
  Bytes bytes(encoded_size(encoding, numbers.size()));
  ASSERT_OK(encode_blocks(encoding, numbers, seed, bytes));
  return bytes;
}

std::vector<float> decoded(Encoding encoding, std::span<const std::byte> bytes, std::size_t count) {
  std::vector<float> numbers(count);
  decode_blocks(encoding, bytes, numbers);
  return numbers;
}

void set_scale(Bytes& bytes, std::size_t block, std::uint16_t half) {
  std::memcpy(bytes.data() + 2 * block, &half, 2);
}

}  // namespace

TEST("What comes back is within one step of its block, in blocks of every length") {
  for (const Encoding encoding : {Encoding::kInt8, Encoding::kInt4}) {
    const float steps = encoding == Encoding::kInt8 ? 127.0F : 7.0F;
    for (const std::size_t count : {1, 2, 63, 64, 65, 127, 128, 1001}) {
      const auto numbers = normal_numbers(count);
      const Bytes bytes = encoded(encoding, numbers);
      TEST_ASSERT_TRUE(check_blocks(encoding, count, bytes) == BlockFault::kNone);
      const auto back = decoded(encoding, bytes, count);
      for (std::size_t first = 0; first < count; first += kBlock) {
        const std::size_t end = std::min(count, first + kBlock);
        float largest = 0;
        for (std::size_t i = first; i < end; ++i) largest = std::max(largest, std::abs(numbers[i]));
        for (std::size_t i = first; i < end; ++i) {
          TEST_ASSERT_TRUE(std::abs(back[i] - numbers[i]) <= largest / steps * 1.01F);
        }
      }
    }
  }
}

TEST("Rounding errs in no direction: over many seeds the mean is the number") {
  const auto numbers = normal_numbers(256);
  for (const Encoding encoding : {Encoding::kInt8, Encoding::kInt4}) {
    constexpr int kSeeds = 4000;
    std::vector<double> sum(numbers.size());
    for (int seed = 0; seed < kSeeds; ++seed) {
      const auto back = decoded(encoding, encoded(encoding, numbers, Random(seed).next()), numbers.size());
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += back[i];
    }
    const double step = 3.5 / (encoding == Encoding::kInt8 ? 127 : 7);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      // Five times what a fair coin of one step may miss by.
      TEST_ASSERT_TRUE(std::abs(sum[i] / kSeeds - numbers[i]) < 5 * 0.5 * step / std::sqrt(kSeeds));
    }
  }
}

TEST("One seed gives the same bytes again, another seed other dice") {
  const auto numbers = normal_numbers(1000);
  TEST_ASSERT_TRUE(encoded(Encoding::kInt8, numbers, 5) == encoded(Encoding::kInt8, numbers, 5));
  const auto low = decoded(Encoding::kInt8, encoded(Encoding::kInt8, numbers, 5), numbers.size());
  for (const std::uint64_t other : {std::uint64_t{6}, std::uint64_t{5} | std::uint64_t{1} << 32}) {
    const auto back = decoded(Encoding::kInt8, encoded(Encoding::kInt8, numbers, other), numbers.size());
    std::size_t different = 0;
    for (std::size_t i = 0; i < back.size(); ++i) different += back[i] == low[i] ? 0 : 1;
    // Two independent dice differ in 2 p (1 - p) of the cases, a third on average.
    TEST_ASSERT_TRUE(different > 250 && different < 420);
  }
}

TEST("The errors of two updates of one sender have nothing to do with each other") {
  const auto numbers = normal_numbers(20'000);
  std::vector<std::vector<float>> errors;
  for (const std::uint64_t seed : {Random(1).next(), Random(2).next()}) {
    errors.push_back(decoded(Encoding::kInt8, encoded(Encoding::kInt8, numbers, seed), numbers.size()));
    for (std::size_t i = 0; i < numbers.size(); ++i) errors.back()[i] -= numbers[i];
  }
  double product = 0;
  double first = 0;
  double second = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    product += double{errors[0][i]} * errors[1][i];
    first += double{errors[0][i]} * errors[0][i];
    second += double{errors[1][i]} * errors[1][i];
  }
  TEST_ASSERT_TRUE(std::abs(product) / std::sqrt(first * second) < 5 / std::sqrt(20'000.0));
}

TEST("Zeros, the smallest floats and large ones come back finite") {
  std::vector<float> numbers(64, 0.0F);
  TEST_ASSERT_TRUE(decoded(Encoding::kInt8, encoded(Encoding::kInt8, numbers), 64) == numbers);
  numbers[3] = std::numeric_limits<float>::denorm_min();
  numbers[4] = -1e-40F;
  for (const Encoding encoding : {Encoding::kInt8, Encoding::kInt4}) {
    const Bytes bytes = encoded(encoding, numbers);
    TEST_ASSERT_TRUE(check_blocks(encoding, 64, bytes) == BlockFault::kNone);
  }
  numbers[5] = 3e38F;
  for (const Encoding encoding : {Encoding::kInt8, Encoding::kInt4}) {
    const Bytes bytes = encoded(encoding, numbers);
    TEST_ASSERT_TRUE(check_blocks(encoding, 64, bytes) == BlockFault::kNone);
    TEST_ASSERT_TRUE(std::abs(decoded(encoding, bytes, 64)[5] - 3e38F) < 5e37F);
  }
}

TEST("A number that would come back as an infinity is an error") {
  const std::vector<float> numbers(3, std::numeric_limits<float>::max());
  Bytes bytes(encoded_size(Encoding::kInt8, 3));
  ASSERT_CONTAINS(message_of(encode_blocks(Encoding::kInt8, numbers, 1, bytes)), "too large for int8");
}

TEST("Scales that are not finite, negative, or too large for their numbers are faults") {
  const auto numbers = normal_numbers(130);
  for (const Encoding encoding : {Encoding::kInt8, Encoding::kInt4}) {
    const Bytes good = encoded(encoding, numbers);
    for (const std::size_t block : {0, 1, 2}) {
      for (const auto half : std::initializer_list<std::uint16_t>{0x7f80, 0x7fc0, 0xff80, 0x7f81, 0x7f7f}) {
        Bytes bad = good;
        set_scale(bad, block, half);
        TEST_ASSERT_TRUE(check_blocks(encoding, 130, bad) == BlockFault::kScaleNotFinite);
      }
      for (const auto half : std::initializer_list<std::uint16_t>{0x8000, 0xbf80}) {
        Bytes bad = good;
        set_scale(bad, block, half);
        TEST_ASSERT_TRUE(check_blocks(encoding, 130, bad) == BlockFault::kScaleNegative);
      }
    }
  }
}

TEST("The number below the least one is a fault, and so are bits behind the last number") {
  Bytes bytes = encoded(Encoding::kInt8, normal_numbers(65));
  bytes.back() = std::byte{0x80};
  TEST_ASSERT_TRUE(check_blocks(Encoding::kInt8, 65, bytes) == BlockFault::kNumberOutside);
  bytes = encoded(Encoding::kInt4, normal_numbers(65));
  Bytes changed = bytes;
  changed.back() = std::byte{0x08};
  TEST_ASSERT_TRUE(check_blocks(Encoding::kInt4, 65, changed) == BlockFault::kNumberOutside);
  changed = bytes;
  changed[4] = std::byte{0x81};
  TEST_ASSERT_TRUE(check_blocks(Encoding::kInt4, 65, changed) == BlockFault::kNumberOutside);
  changed = bytes;
  changed.back() = std::byte{0x11};
  TEST_ASSERT_TRUE(check_blocks(Encoding::kInt4, 65, changed) == BlockFault::kSpareBits);
}
