#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace aflguard {

/// How the numbers of a vector are written. Sent and stored: a value never changes its meaning.
enum class Encoding : std::uint8_t {
  kFloat32 = 0,
  kFloat16 = 1,
  kInt8 = 2,  ///< blocks of 64 with one scale each
  kInt4 = 3,  ///< the same, two numbers in a byte
};
inline constexpr std::size_t kEncodings = 4;

/// What was done with the bytes afterwards. Sent and stored.
enum class Packing : std::uint8_t { kPlain = 0, kZstd = 1 };
inline constexpr std::size_t kPackings = 2;

/// Numbers that share a scale.
inline constexpr std::size_t kBlock = 64;

[[nodiscard]] std::string_view to_string(Encoding encoding);
[[nodiscard]] std::optional<Encoding> parse_encoding(std::string_view name);

/// Bytes of `count` numbers before packing.
[[nodiscard]] std::size_t encoded_size(Encoding encoding, std::size_t count);

/// Which encodings and packings a receiver takes: bit n stands for number n. Bits of later programs are kept
/// out.
struct EncodingSet {
  std::uint64_t encodings = 1;
  std::uint64_t packings = 1;

  [[nodiscard]] static EncodingSet all() { return {(1U << kEncodings) - 1, (1U << kPackings) - 1}; }
  [[nodiscard]] bool has(Encoding encoding) const {
    return (encodings >> static_cast<unsigned>(encoding) & 1) != 0;
  }
  [[nodiscard]] bool has(Packing packing) const {
    return (packings >> static_cast<unsigned>(packing) & 1) != 0;
  }
  void add(Encoding encoding) { encodings |= std::uint64_t{1} << static_cast<unsigned>(encoding); }
  void remove(Encoding encoding) { encodings &= ~(std::uint64_t{1} << static_cast<unsigned>(encoding)); }
  friend bool operator==(const EncodingSet&, const EncodingSet&) = default;
};

}  // namespace aflguard
