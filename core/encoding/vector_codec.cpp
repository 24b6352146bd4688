#include "core/encoding/vector_codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "core/compression/compression.h"
#include "core/encoding/block_rounding.h"
#include "core/encoding/float16.h"

namespace aflguard {
namespace {

static_assert(std::endian::native == std::endian::little, "floats are copied as they are in memory");

/// Smallest first.
constexpr std::array kBySize = {Encoding::kInt4, Encoding::kInt8, Encoding::kFloat16, Encoding::kFloat32};

Error not_finite() {
  return invalid_input("vector holds a NaN or an infinity");
}

Status check_floats(std::span<const std::byte> plain) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  unsigned bad = 0;
  for (std::size_t i = 0; i < plain.size() / sizeof(float); ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, plain.data() + i * sizeof(float), sizeof(bits));
    bad |= static_cast<unsigned>((bits & kExponent) == kExponent);
  }
  if (bad != 0) return not_finite();
  return {};
}

Status explain(BlockFault fault) {
  switch (fault) {
    case BlockFault::kNone:
      return {};
    case BlockFault::kScaleNotFinite:
      return invalid_input("vector has a block whose scale is not finite, or makes its numbers infinite");
    case BlockFault::kScaleNegative:
      return corrupt("vector has a block whose scale is negative");
    case BlockFault::kNumberOutside:
      return corrupt("vector has a whole number below the least one");
    case BlockFault::kSpareBits:
      return corrupt("vector has a number behind its last one");
  }
  return {};
}

Status check_plain(Encoding encoding, std::size_t count, std::span<const std::byte> plain) {
  if (encoding == Encoding::kFloat32) return check_floats(plain);
  if (encoding != Encoding::kFloat16) return explain(check_blocks(encoding, count, plain));
  if (!float16_finite(plain)) return not_finite();
  return {};
}

/// Bytes of `count` numbers without the scales of their blocks.
std::size_t numbers_size(Encoding encoding, std::size_t count) {
  return encoding == Encoding::kInt4 ? (count + 1) / 2 : count;
}

std::vector<float> decode_plain(Encoding encoding, std::size_t count, std::span<const std::byte> plain) {
  std::vector<float> numbers(count);
  if (encoding == Encoding::kFloat32) {
    std::memcpy(numbers.data(), plain.data(), plain.size());
  } else if (encoding == Encoding::kFloat16) {
    decode_float16(plain, numbers);
  } else {
    decode_blocks(encoding, plain, numbers);
  }
  return numbers;
}

/// A part of a vector that is not packed, from number `first` on, which begins a block.
void decode_part(const EncodedVector& vector, std::size_t first, Bytes& scratch, std::span<float> out) {
  const std::span<const std::byte> all = vector.bytes;
  const auto part = [&](std::size_t offset, std::size_t size) { return all.subspan(offset, size); };
  if (vector.encoding == Encoding::kFloat32) {
    std::memcpy(out.data(), part(4 * first, 4 * out.size()).data(), out.size_bytes());
  } else if (vector.encoding == Encoding::kFloat16) {
    decode_float16(part(2 * first, 2 * out.size()), out);
  } else {
    // Its scales and its numbers lie apart.
    const std::size_t scales =
        encoded_size(vector.encoding, vector.count) - numbers_size(vector.encoding, vector.count);
    const std::size_t own_scales =
        encoded_size(vector.encoding, out.size()) - numbers_size(vector.encoding, out.size());
    const auto front = part(first / kBlock * 2, own_scales);
    const auto back =
        part(scales + numbers_size(vector.encoding, first), numbers_size(vector.encoding, out.size()));
    scratch.assign(front.begin(), front.end());
    scratch.insert(scratch.end(), back.begin(), back.end());
    decode_blocks(vector.encoding, scratch, out);
  }
}

Result<std::vector<float>> decode_checked(Encoding encoding, std::size_t count,
                                          std::span<const std::byte> plain) {
  TRY_STATUS(check_plain(encoding, count, plain));
  return decode_plain(encoding, count, plain);
}

/// relative_error() of parts, one after the other.
struct ErrorSums {
  double lost = 0;
  double whole = 0;

  void add(std::span<const float> numbers, std::span<const float> decoded) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const double number = numbers[i];
      const double difference = decoded[i] - number;
      lost += difference * difference;
      whole += number * number;
    }
  }
  [[nodiscard]] double relative() const {
    if (lost == 0) return 0;
    return whole > 0 ? std::sqrt(lost / whole) : std::numeric_limits<double>::infinity();
  }
};

/// Of a vector that is not packed, without memory for all that it decodes to.
double error_of(std::span<const float> numbers, const EncodedVector& vector) {
  constexpr std::size_t kPart = 64 * kBlock;
  ErrorSums sums;
  std::vector<float> decoded(std::min(kPart, numbers.size()));
  Bytes scratch;
  for (std::size_t first = 0; first < numbers.size(); first += kPart) {
    const auto part = numbers.subspan(first, std::min(kPart, numbers.size() - first));
    const auto out = std::span(decoded).first(part.size());
    decode_part(vector, first, scratch, out);
    sums.add(part, out);
  }
  return sums.relative();
}

}  // namespace

/// No branch per number, so that the compiler can take several at once.
bool all_finite(std::span<const float> numbers) {
  return check_floats(std::as_bytes(numbers)).ok();
}

Result<EncodedVector> encode_vector(std::span<const float> numbers, Encoding encoding, std::uint64_t seed) {
  EncodedVector vector{encoding, numbers.size(), Packing::kPlain,
                       Bytes(encoded_size(encoding, numbers.size()))};
  if (encoding == Encoding::kFloat32) {
    std::memcpy(vector.bytes.data(), numbers.data(), numbers.size_bytes());
  } else if (encoding == Encoding::kFloat16) {
    TRY_STATUS(encode_float16(numbers, vector.bytes));
  } else {
    TRY_STATUS(encode_blocks(encoding, numbers, seed, vector.bytes));
  }
  return vector;
}

Result<EncodedVector> packed(EncodedVector vector) {
  TRY(Bytes smaller, compress(vector.bytes));
  if (smaller.size() >= vector.bytes.size()) return vector;
  vector.bytes = std::move(smaller);
  vector.packing = Packing::kZstd;
  return vector;
}

Result<std::vector<float>> decode_vector(const EncodedView& vector, std::size_t most_numbers) {
  if (vector.count == 0 || vector.count > most_numbers) {
    return corrupt("vector says that it has " + std::to_string(vector.count) + " numbers, 1 to " +
                   std::to_string(most_numbers) + " are taken");
  }
  const auto count = static_cast<std::size_t>(vector.count);
  const std::size_t size = encoded_size(vector.encoding, count);
  if (vector.packing == Packing::kZstd) {
    TRY(const Bytes plain, decompress(vector.bytes, size));
    return decode_checked(vector.encoding, count, plain);
  }
  if (vector.bytes.size() != size) {
    return corrupt("vector has " + std::to_string(vector.bytes.size()) + " bytes, " + std::to_string(count) +
                   " numbers as " + std::string(to_string(vector.encoding)) + " need " +
                   std::to_string(size));
  }
  return decode_checked(vector.encoding, count, vector.bytes);
}

double relative_error(std::span<const float> numbers, std::span<const float> decoded) {
  ErrorSums sums;
  sums.add(numbers, decoded);
  return sums.relative();
}

Result<ChosenEncoding> choose_encoding(std::span<const float> numbers, const EncodingSet& taken,
                                       double most_error, std::uint64_t seed) {
  for (const Encoding encoding : kBySize) {
    if (!taken.has(encoding) && encoding != Encoding::kFloat32) continue;
    auto vector = encode_vector(numbers, encoding, seed);
    if (!vector.ok()) continue;  // a number is too large for it
    ChosenEncoding chosen{std::move(*vector), 0};
    chosen.error = error_of(numbers, chosen.vector);
    if (encoding == Encoding::kFloat32 || chosen.error < most_error) return chosen;
  }
  return internal_error("float32 takes every number");
}

}  // namespace aflguard
