#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/encoding/encoding.h"

namespace aflguard {

/// A vector as it travels. docs/wire-format.md describes the bytes.
struct EncodedVector {
  Encoding encoding = Encoding::kFloat32;
  std::uint64_t count = 0;  ///< numbers
  Packing packing = Packing::kPlain;
  Bytes bytes;
};

/// The same, received: its bytes are borrowed, and everything about it is a claim.
struct EncodedView {
  Encoding encoding = Encoding::kFloat32;
  std::uint64_t count = 0;
  Packing packing = Packing::kPlain;
  std::span<const std::byte> bytes;
};

/// True when no number is a NaN or an infinity.
[[nodiscard]] bool all_finite(std::span<const float> numbers);

/// `numbers` are finite. Not packed. `seed`: as encode_blocks() says. kInvalidInput when one of them is too
/// large for this encoding.
[[nodiscard]] Result<EncodedVector> encode_vector(std::span<const float> numbers, Encoding encoding,
                                                  std::uint64_t seed);
/// Compressed, where that makes it smaller.
[[nodiscard]] Result<EncodedVector> packed(EncodedVector vector);

/// Hostile input: count first, then size, then the scales; memory for the numbers comes last. kCorrupt, or
/// kInvalidInput when a number is not finite.
[[nodiscard]] Result<std::vector<float>> decode_vector(const EncodedView& vector, std::size_t most_numbers);

/// |decoded - numbers| / |numbers|, in L2; 0 for zeros that came back as zeros.
[[nodiscard]] double relative_error(std::span<const float> numbers, std::span<const float> decoded);

/// What automatic choice allows.
inline constexpr double kMostRelativeError = 0.01;

struct ChosenEncoding {
  EncodedVector vector;  ///< not packed
  double error = 0;      ///< relative_error() of what a receiver will see
};
/// The smallest encoding in `taken` whose own error is under `most_error`; float32 if there is none. Takes
/// memory for the encoded bytes alone.
[[nodiscard]] Result<ChosenEncoding> choose_encoding(std::span<const float> numbers, const EncodingSet& taken,
                                                     double most_error, std::uint64_t seed);

}  // namespace aflguard
