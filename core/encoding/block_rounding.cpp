#include "core/encoding/block_rounding.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace aflguard {
namespace {

static_assert(std::endian::native == std::endian::little, "scales are copied as they are in memory");

std::size_t blocks_of(std::size_t count) {
  return (count + kBlock - 1) / kBlock;
}

int largest(Encoding encoding) {
  return encoding == Encoding::kInt8 ? 127 : 7;
}

/// 16 random bits for the number at `index`. Without a state, so that the compiler takes several at once.
std::int32_t dice(std::uint32_t low, std::uint32_t high, std::uint32_t index) {
  std::uint32_t x = index * 0x9e3779b9U + low;
  x = (x ^ x >> 16) * 0x85ebca6bU + high;
  x = (x ^ x >> 13) * 0xc2b2ae35U;
  return static_cast<std::int32_t>(x >> 16);
}

/// The upper half of a float's bits: the smallest bfloat16 that is at least `number`, which is not negative.
std::uint16_t bfloat16_above(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  return static_cast<std::uint16_t>((bits >> 16) + ((bits & 0xffff) != 0 ? 1 : 0));
}

float from_bfloat16(std::uint16_t half) {
  return std::bit_cast<float>(std::uint32_t{half} << 16);
}

float scale_at(std::span<const std::byte> bytes, std::size_t block) {
  std::uint16_t half = 0;
  std::memcpy(&half, bytes.data() + 2 * block, sizeof(half));
  return from_bfloat16(half);
}

float largest_magnitude(std::span<const float> numbers) {
  std::uint32_t most = 0;  // the bits of magnitudes are in the order of the magnitudes
  for (const float number : numbers) most = std::max(most, std::bit_cast<std::uint32_t>(number) & 0x7fffffff);
  return std::bit_cast<float>(most);
}

using BlockOfNumbers = std::array<std::int8_t, kBlock>;

/// Moved up by 128, so that cutting off is rounding down; 16 bits behind the point meet 16 random ones.
void round_block(std::span<const float> numbers, float scale, int limit, std::uint64_t seed,
                 std::size_t first, BlockOfNumbers& out) {
  const auto low = static_cast<std::uint32_t>(seed);
  const auto high = static_cast<std::uint32_t>(seed >> 32);
  const auto bound = static_cast<float>(limit);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const float steps = std::min(std::max(numbers[i] / scale, -bound), bound);
    const auto fixed = static_cast<std::int32_t>((steps + 128.0F) * 65536.0F);
    const std::int32_t rolled = (fixed + dice(low, high, static_cast<std::uint32_t>(first + i))) >> 16;
    out[i] = static_cast<std::int8_t>(rolled - 128);
  }
}

void put_numbers(Encoding encoding, const BlockOfNumbers& numbers, std::size_t count, std::byte* to) {
  if (encoding == Encoding::kInt8) {
    std::memcpy(to, numbers.data(), count);
    return;
  }
  for (std::size_t i = 0; i < count; i += 2) {
    const auto low = static_cast<unsigned>(numbers[i]) & 0xf;
    const auto high = i + 1 < count ? static_cast<unsigned>(numbers[i + 1]) & 0xf : 0;
    to[i / 2] = static_cast<std::byte>(low | high << 4);
  }
}

std::size_t bytes_per_block(Encoding encoding) {
  return encoding == Encoding::kInt8 ? kBlock : kBlock / 2;
}

bool int8_outside(std::span<const std::byte> numbers) {
  return std::find(numbers.begin(), numbers.end(), std::byte{0x80}) != numbers.end();
}

bool int4_outside(std::span<const std::byte> numbers) {
  unsigned outside = 0;
  for (const std::byte pair : numbers) {
    outside |= static_cast<unsigned>((pair & std::byte{0x0f}) == std::byte{0x08});
    outside |= static_cast<unsigned>((pair & std::byte{0xf0}) == std::byte{0x80});
  }
  return outside != 0;
}

/// A half of a byte as a number of -8 to 7.
float half_of(std::byte pair, int shift) {
  const int half = std::to_integer<int>(pair) >> shift & 0xf;
  return static_cast<float>((half ^ 8) - 8);
}

}  // namespace

Status encode_blocks(Encoding encoding, std::span<const float> numbers, std::uint64_t seed,
                     std::span<std::byte> out) {
  const int limit = largest(encoding);
  std::byte* to = out.data() + 2 * blocks_of(numbers.size());
  for (std::size_t first = 0; first < numbers.size(); first += kBlock, to += bytes_per_block(encoding)) {
    const auto block = numbers.subspan(first, std::min(kBlock, numbers.size() - first));
    const std::uint16_t half = bfloat16_above(largest_magnitude(block) / static_cast<float>(limit));
    const float scale = from_bfloat16(half);
    if (!std::isfinite(scale * static_cast<float>(limit))) {
      return invalid_input("a number is too large for " + std::string(to_string(encoding)));
    }
    std::memcpy(out.data() + 2 * (first / kBlock), &half, sizeof(half));
    BlockOfNumbers rounded{};
    if (scale > 0) round_block(block, scale, limit, seed, first, rounded);
    put_numbers(encoding, rounded, block.size(), to);
  }
  return {};
}

BlockFault check_blocks(Encoding encoding, std::size_t count, std::span<const std::byte> bytes) {
  const std::size_t blocks = blocks_of(count);
  const float most = std::numeric_limits<float>::max() / static_cast<float>(largest(encoding));
  for (std::size_t i = 0; i < blocks; ++i) {
    const float scale = scale_at(bytes, i);
    if (!(std::abs(scale) <= most)) return BlockFault::kScaleNotFinite;
    if (std::signbit(scale)) return BlockFault::kScaleNegative;
  }
  const auto numbers = bytes.subspan(2 * blocks);
  const bool outside = encoding == Encoding::kInt8 ? int8_outside(numbers) : int4_outside(numbers);
  if (outside) return BlockFault::kNumberOutside;
  const bool spare = encoding == Encoding::kInt4 && count % 2 == 1;
  if (spare && (bytes.back() & std::byte{0xf0}) != std::byte{0}) return BlockFault::kSpareBits;
  return BlockFault::kNone;
}

void decode_blocks(Encoding encoding, std::span<const std::byte> bytes, std::span<float> out) {
  const std::byte* from = bytes.data() + 2 * blocks_of(out.size());
  for (std::size_t first = 0; first < out.size(); first += kBlock, from += bytes_per_block(encoding)) {
    const float scale = scale_at(bytes, first / kBlock);
    const auto block = out.subspan(first, std::min(kBlock, out.size() - first));
    if (encoding == Encoding::kInt8) {
      for (std::size_t i = 0; i < block.size(); ++i) {
        block[i] = static_cast<float>(static_cast<std::int8_t>(from[i])) * scale;
      }
      continue;
    }
    for (std::size_t i = 0; i < block.size(); ++i) {
      block[i] = half_of(from[i / 2], i % 2 == 0 ? 0 : 4) * scale;
    }
  }
}

}  // namespace aflguard
