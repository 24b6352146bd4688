#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/base/result.h"

namespace aflguard {

/// A P-256 public key: 0x04, x and y, 32 bytes each in big endian. Only a verifier knows whether it is a
/// point.
using PublicKey = std::array<std::uint8_t, 65>;
/// RFC 9679 thumbprint of a public key; its name in every envelope.
using KeyId = std::array<std::uint8_t, 32>;
/// ES256: r and s, 32 bytes each in big endian.
using EcdsaSignature = std::array<std::uint8_t, 64>;
/// What is signed, in parts that are hashed one after the other, so that a large payload is never copied.
using SignedParts = std::span<const std::span<const std::byte>>;

[[nodiscard]] KeyId key_id_of(const PublicKey& key);
[[nodiscard]] std::string to_hex(std::span<const std::uint8_t> bytes);

/// True when s is at most half of the group order. (r, n - s) verifies whenever (r, s) does, so only one of
/// the two is allowed: see docs/wire-format.md.
[[nodiscard]] bool has_low_s(const EcdsaSignature& signature);
/// The one of (r, s) and (r, n - s) whose s is low.
[[nodiscard]] EcdsaSignature with_low_s(const EcdsaSignature& signature);

/// Holds one private key: a file on a board, or a secure element.
class Signer {
 public:
  virtual ~Signer() = default;
  [[nodiscard]] virtual const PublicKey& public_key() const = 0;
  /// ES256 over the SHA-256 of all parts. Either of the two values of s may come back.
  [[nodiscard]] virtual Result<EcdsaSignature> sign(SignedParts parts) = 0;
};

/// Checks ES256 signatures. Safe to call from several threads.
class Verifier {
 public:
  virtual ~Verifier() = default;
  /// False for a wrong signature, for a key that is not a point of the curve, and for any failure inside.
  [[nodiscard]] virtual bool verify(const PublicKey& key, SignedParts parts,
                                    const EcdsaSignature& signature) const = 0;
};

}  // namespace aflguard
