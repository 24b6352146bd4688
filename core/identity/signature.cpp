#include "core/identity/signature.h"

#include <algorithm>

#include "core/base/sha256.h"
#include "core/cbor/cbor.h"

namespace aflguard {

namespace {

using Scalar = std::array<std::uint8_t, 32>;

/// The order n of P-256 (SEC 2) and floor(n / 2).
constexpr Scalar kOrder = {0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff,
                           0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17,
                           0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51};

constexpr Scalar half(const Scalar& number) {
  Scalar result{};
  unsigned carry = 0;
  for (std::size_t i = 0; i < number.size(); ++i) {
    result[i] = static_cast<std::uint8_t>((carry << 7) | (number[i] >> 1));
    carry = number[i] & 1u;
  }
  return result;
}
constexpr Scalar kHalfOrder = half(kOrder);

}  // namespace

KeyId key_id_of(const PublicKey& key) {
  const auto coordinates = std::as_bytes(std::span(key)).subspan(1);
  Bytes cose_key;
  CborWriter writer(cose_key);
  writer.put_map(4);
  writer.put_integer(1);  // key type: two coordinates
  writer.put_integer(2);
  writer.put_integer(-1);  // curve: P-256
  writer.put_integer(1);
  writer.put_integer(-2);  // x
  writer.put_bytes(coordinates.first(32));
  writer.put_integer(-3);  // y
  writer.put_bytes(coordinates.last(32));
  return sha256(cose_key);
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const std::uint8_t byte : bytes) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

bool has_low_s(const EcdsaSignature& signature) {
  return !std::lexicographical_compare(kHalfOrder.begin(), kHalfOrder.end(), signature.begin() + 32,
                                       signature.end());
}

EcdsaSignature with_low_s(const EcdsaSignature& signature) {
  if (has_low_s(signature)) return signature;
  EcdsaSignature low = signature;
  int borrow = 0;
  for (std::size_t i = kOrder.size(); i-- > 0;) {
    const int digit = int{kOrder[i]} - int{signature[32 + i]} - borrow;
    borrow = digit < 0 ? 1 : 0;
    low[32 + i] = static_cast<std::uint8_t>(digit + 256 * borrow);
  }
  return low;
}

}  // namespace aflguard
