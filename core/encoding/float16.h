#pragma once

#include <cstddef>
#include <span>

#include "core/base/result.h"

namespace aflguard {

/// IEEE 754 binary16 in little endian, two bytes a number, rounded to the nearest (ties to even). `out` has
/// twice as many bytes as there are numbers. kInvalidInput when a number is too large: 65,520 and more.
[[nodiscard]] Status encode_float16(std::span<const float> numbers, std::span<std::byte> out);
/// False when a NaN or an infinity is among them.
[[nodiscard]] bool float16_finite(std::span<const std::byte> bytes);
/// Exact. The bytes hold finite numbers.
void decode_float16(std::span<const std::byte> bytes, std::span<float> out);

}  // namespace aflguard
