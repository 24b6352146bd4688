#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/result.h"
#include "core/encoding/encoding.h"

namespace aflguard {

/// Small whole numbers times a scale for each block of kBlock. The scales come first, one bfloat16 in little
/// endian each; then the numbers: kInt8 one byte each (-127 to 127), kInt4 two in a byte (-7 to 7), the first
/// in the low half, a spare half is 0. A number times its scale is exact in float32, so that every machine
/// decodes the same bits.
///
/// Rounding is stochastic: up or down with the odds of what is lost, so that its expectation is the number
/// itself. `seed` picks the dice: two updates of one seed would err in the same direction.
/// `out` has encoded_size() bytes. kInvalidInput when a number is too large to come back finite.
[[nodiscard]] Status encode_blocks(Encoding encoding, std::span<const float> numbers, std::uint64_t seed,
                                   std::span<std::byte> out);

/// Why these bytes are no encode_blocks() of `count` numbers, or nothing. They have encoded_size() bytes.
enum class BlockFault : std::uint8_t { kNone, kScaleNotFinite, kScaleNegative, kNumberOutside, kSpareBits };
[[nodiscard]] BlockFault check_blocks(Encoding encoding, std::size_t count, std::span<const std::byte> bytes);

/// Of bytes without a fault.
void decode_blocks(Encoding encoding, std::span<const std::byte> bytes, std::span<float> out);

}  // namespace aflguard
