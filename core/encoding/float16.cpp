#include "core/encoding/float16.h"

#include <bit>
#include <cstdint>
#include <cstring>

namespace aflguard {
namespace {

constexpr std::uint32_t kInfinite = 0x7c00;

std::uint32_t to_half(float number) {
  constexpr std::uint32_t kSmallestNormal = 0x38800000;  // 2^-14 as a float
  constexpr std::uint32_t kBias = 0x38000000;            // of a float's exponent over a half's
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  const std::uint32_t moved = magnitude - kBias;
  const std::uint32_t normal = (moved + 0xfff + (moved >> 13 & 1)) >> 13;
  // The last bit of 0.5 is worth as much as that of the smallest halves, so adding rounds to it.
  const std::uint32_t small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) -
                              std::bit_cast<std::uint32_t>(0.5F);
  const std::uint32_t half = magnitude < kSmallestNormal ? small : normal;
  return (half < kInfinite ? half : kInfinite) | (bits >> 16 & 0x8000);
}

float from_half(std::uint32_t half) {
  const std::uint32_t magnitude = (half & 0x7fff) << 13;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112F;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | (half & 0x8000) << 16);
}

std::uint16_t half_at(std::span<const std::byte> bytes, std::size_t i) {
  static_assert(std::endian::native == std::endian::little, "numbers are copied as they are in memory");
  std::uint16_t half = 0;
  std::memcpy(&half, bytes.data() + 2 * i, sizeof(half));
  return half;
}

}  // namespace

Status encode_float16(std::span<const float> numbers, std::span<std::byte> out) {
  unsigned infinite = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto half = static_cast<std::uint16_t>(to_half(numbers[i]));
    infinite |= static_cast<unsigned>((half & kInfinite) == kInfinite);
    std::memcpy(out.data() + 2 * i, &half, sizeof(half));
  }
  if (infinite != 0) return invalid_input("a number is too large for fp16, whose largest is 65504");
  return {};
}

bool float16_finite(std::span<const std::byte> bytes) {
  unsigned infinite = 0;
  for (std::size_t i = 0; i < bytes.size() / 2; ++i) {
    infinite |= static_cast<unsigned>((half_at(bytes, i) & kInfinite) == kInfinite);
  }
  return infinite == 0;
}

void decode_float16(std::span<const std::byte> bytes, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = from_half(half_at(bytes, i));
}

}  // namespace aflguard
