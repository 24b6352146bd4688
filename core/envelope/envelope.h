#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "core/cbor/cbor.h"
#include "core/identity/device_registry.h"
#include "core/identity/signature.h"
#include "core/verdict/refusal.h"

namespace aflguard {

/// What every program understands, and what it gets until it has said that it understands more.
inline constexpr std::uint8_t kFirstFormat = 1;
/// Encoded vectors, offers, differences.
inline constexpr std::uint8_t kNewestFormat = 2;
inline constexpr std::size_t kDefaultMaxEnvelopeBytes = 16u << 20;

enum class PayloadType : std::uint8_t {
  kUpdate,
  kVerdict,
  kModel,
  kRefusal,
  kOffer,
  kDifference,
  kRelease,
  kTrial,
  kRenewal
};

[[nodiscard]] std::string_view content_type(PayloadType type);

/// An encoded message, not yet signed.
struct Payload {
  PayloadType type = PayloadType::kUpdate;
  Bytes bytes;
  std::uint8_t format = kFirstFormat;
};

/// The same, with its vector still in the message that it was encoded from, which outlives this: sealing then
/// copies the numbers once, into the envelope.
struct BorrowedPayload {
  PayloadType type = PayloadType::kUpdate;
  Bytes fields;                       ///< all that stands in front of the vector's numbers
  std::span<const std::byte> vector;  ///< those numbers, the end of the payload
  std::uint8_t format = kFirstFormat;
};

/// A signed message, ready to travel or to wait in a spool.
class SealedEnvelope final {
 public:
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] Bytes release() && { return std::move(bytes_); }

 private:
  friend class EnvelopeSealer;
  explicit SealedEnvelope(Bytes bytes) : bytes_(std::move(bytes)) {}
  Bytes bytes_;
};

/// Signs payloads with one key. Not safe from several threads, as signers need not be.
class EnvelopeSealer final {
 public:
  /// The signer is borrowed and outlives this object.
  explicit EnvelopeSealer(Signer& signer);
  /// Fails only where the signer does.
  [[nodiscard]] Result<SealedEnvelope> seal(const Payload& payload);
  [[nodiscard]] Result<SealedEnvelope> seal_borrowed(const BorrowedPayload& payload);
  /// What its envelopes are verified with.
  [[nodiscard]] const PublicKey& public_key() const { return signer_.public_key(); }
  [[nodiscard]] const KeyId& key_id() const { return key_id_; }

 private:
  /// The payload is `front` and then `back`.
  [[nodiscard]] Result<SealedEnvelope> seal(PayloadType type, std::uint8_t format,
                                            std::span<const std::byte> front,
                                            std::span<const std::byte> back);

  Signer& signer_;
  KeyId key_id_;
};

/// Received bytes that have the shape of an envelope. Everything it says is a claim: there is no way from
/// here to a message except through EnvelopeOpener.
class UnverifiedEnvelope final {
 public:
  /// Size first, then shape. Takes the bytes over and allocates nothing.
  [[nodiscard]] static Admitted<UnverifiedEnvelope> parse(Bytes bytes,
                                                          std::size_t max_bytes = kDefaultMaxEnvelopeBytes);

  [[nodiscard]] const KeyId& claimed_key() const { return key_id_; }
  [[nodiscard]] PayloadType claimed_type() const { return type_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

 private:
  friend class EnvelopeOpener;
  struct Range {
    std::size_t offset = 0;
    std::size_t size = 0;
  };
  UnverifiedEnvelope() = default;
  [[nodiscard]] Status read_shape();
  [[nodiscard]] Status read_protected_header();
  [[nodiscard]] std::span<const std::byte> part(Range range) const {
    return std::span<const std::byte>(bytes_).subspan(range.offset, range.size);
  }

  Bytes bytes_;
  Range protected_;
  Range payload_;
  EcdsaSignature signature_{};
  KeyId key_id_{};
  PayloadType type_ = PayloadType::kUpdate;
  std::uint8_t format_ = kFirstFormat;
};

/// A payload whose signature matched a registered key that is not revoked. Only EnvelopeOpener makes one.
class VerifiedPayload final {
 public:
  /// Owner of the key that signed: the one true name of the sender.
  [[nodiscard]] const std::string& sender() const { return sender_; }
  [[nodiscard]] const KeyId& key() const { return key_; }
  [[nodiscard]] PayloadType type() const { return type_; }
  [[nodiscard]] std::uint8_t format() const { return format_; }
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return std::span<const std::byte>(envelope_).subspan(offset_, size_);
  }
  /// The whole envelope as it was received, e.g. for a recording.
  [[nodiscard]] std::span<const std::byte> envelope() const { return envelope_; }

 private:
  friend class EnvelopeOpener;
  VerifiedPayload(std::string sender, const KeyId& key, PayloadType type, std::uint8_t format, Bytes envelope,
                  std::size_t offset, std::size_t size)
      : sender_(std::move(sender)),
        key_(key),
        type_(type),
        format_(format),
        envelope_(std::move(envelope)),
        offset_(offset),
        size_(size) {}

  std::string sender_;
  KeyId key_;
  PayloadType type_;
  std::uint8_t format_;
  Bytes envelope_;
  std::size_t offset_;
  std::size_t size_;
};

/// Verifies envelopes. Safe from several threads when registry and verifier are.
class EnvelopeOpener final {
 public:
  /// Both are borrowed and outlive this object.
  EnvelopeOpener(const DeviceRegistry& registry, const Verifier& verifier)
      : registry_(registry), verifier_(verifier) {}

  /// Refused as unknown-key, revoked, expired or bad-signature.
  [[nodiscard]] Admitted<VerifiedPayload> open(UnverifiedEnvelope envelope) const;

 private:
  const DeviceRegistry& registry_;
  const Verifier& verifier_;
};

}  // namespace aflguard
