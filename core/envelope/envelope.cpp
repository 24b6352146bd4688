#include "core/envelope/envelope.h"

#include <algorithm>
#include <array>

// The grammar is in docs/wire-format.md.
namespace aflguard {

namespace {

constexpr std::uint64_t kCoseSign1Tag = 18;
constexpr std::int64_t kAlgorithmLabel = 1;
constexpr std::int64_t kContentTypeLabel = 3;
constexpr std::int64_t kKeyIdLabel = 4;
constexpr std::int64_t kFormatVersionLabel = -65537;  // private use
constexpr std::int64_t kEs256 = -7;

constexpr std::array<std::string_view, 9> kContentTypes = {
    "application/vnd.aflguard.update+cbor",  "application/vnd.aflguard.verdict+cbor",
    "application/vnd.aflguard.model+cbor",   "application/vnd.aflguard.refusal+cbor",
    "application/vnd.aflguard.offer+cbor",   "application/vnd.aflguard.difference+cbor",
    "application/vnd.aflguard.release+cbor", "application/vnd.aflguard.trial+cbor",
    "application/vnd.aflguard.renewal+cbor"};

Bytes protected_header(PayloadType type, std::uint8_t format, const KeyId& key_id) {
  Bytes header;
  CborWriter writer(header);
  writer.put_map(4);
  writer.put_integer(kAlgorithmLabel);
  writer.put_integer(kEs256);
  writer.put_integer(kContentTypeLabel);
  writer.put_text(content_type(type));
  writer.put_integer(kKeyIdLabel);
  writer.put_bytes(std::as_bytes(std::span(key_id)));
  writer.put_integer(kFormatVersionLabel);
  writer.put_unsigned(format);
  return header;
}

/// RFC 9052's Sig_structure up to the payload's own bytes, which follow separately.
Bytes signature_prefix(std::span<const std::byte> header, std::size_t payload_size) {
  Bytes prefix;
  CborWriter writer(prefix);
  writer.put_array(4);
  writer.put_text("Signature1");
  writer.put_bytes(header);
  writer.put_bytes({});  // no external data
  writer.put_bytes_head(payload_size);
  return prefix;
}

}  // namespace

std::string_view content_type(PayloadType type) {
  return kContentTypes[static_cast<std::size_t>(type)];
}

EnvelopeSealer::EnvelopeSealer(Signer& signer) : signer_(signer), key_id_(key_id_of(signer.public_key())) {}

Result<SealedEnvelope> EnvelopeSealer::seal(const Payload& payload) {
  return seal(payload.type, payload.format, payload.bytes, {});
}

Result<SealedEnvelope> EnvelopeSealer::seal_borrowed(const BorrowedPayload& payload) {
  return seal(payload.type, payload.format, payload.fields, payload.vector);
}

Result<SealedEnvelope> EnvelopeSealer::seal(PayloadType type, std::uint8_t format,
                                            std::span<const std::byte> front,
                                            std::span<const std::byte> back) {
  const std::size_t size = front.size() + back.size();
  const Bytes header = protected_header(type, format, key_id_);
  const Bytes prefix = signature_prefix(header, size);
  const std::array<std::span<const std::byte>, 3> parts = {prefix, front, back};
  TRY(const EcdsaSignature any, signer_.sign(parts));
  const EcdsaSignature signature = with_low_s(any);

  Bytes bytes;
  bytes.reserve(size + header.size() + signature.size() + 32);
  CborWriter writer(bytes);
  writer.put_tag(kCoseSign1Tag);
  writer.put_array(4);
  writer.put_bytes(header);
  writer.put_map(0);
  writer.put_bytes_head(size);
  bytes.insert(bytes.end(), front.begin(), front.end());
  bytes.insert(bytes.end(), back.begin(), back.end());
  writer.put_bytes(std::as_bytes(std::span(signature)));
  return SealedEnvelope(std::move(bytes));
}

Admitted<UnverifiedEnvelope> UnverifiedEnvelope::parse(Bytes bytes, std::size_t max_bytes) {
  if (bytes.size() > max_bytes) {
    return refuse(RefusalReason::kOversized, "envelope of " + std::to_string(bytes.size()) +
                                                 " bytes is over the limit of " + std::to_string(max_bytes));
  }
  UnverifiedEnvelope envelope;
  envelope.bytes_ = std::move(bytes);
  if (const Status shape = envelope.read_shape(); !shape.ok()) return at("envelope", shape.error());
  if (const Status header = envelope.read_protected_header(); !header.ok()) {
    return at("protected header", header.error());
  }
  return envelope;
}

Status UnverifiedEnvelope::read_shape() {
  CborReader reader(bytes_);
  const auto take_range = [&]() -> Result<Range> {
    TRY(const auto view, reader.take_bytes());
    return Range{reader.position() - view.size(), view.size()};
  };
  TRY_STATUS(reader.expect_tag(kCoseSign1Tag));
  TRY_STATUS(reader.expect_array(4));
  TRY(protected_, take_range());
  TRY_STATUS(reader.expect_map(0));
  TRY(payload_, take_range());
  TRY(const auto signature, reader.take_bytes());
  if (signature.size() != signature_.size()) {
    return corrupt("signature has " + std::to_string(signature.size()) + " bytes, needs " +
                   std::to_string(signature_.size()));
  }
  std::copy(signature.begin(), signature.end(), std::as_writable_bytes(std::span(signature_)).begin());
  return reader.expect_end();
}

Status UnverifiedEnvelope::read_protected_header() {
  CborReader reader(part(protected_));
  TRY_STATUS(reader.expect_map(4));
  TRY_STATUS(reader.expect_key(kAlgorithmLabel));
  TRY(const std::int64_t algorithm, reader.take_integer());
  if (algorithm != kEs256) {
    return unsupported("algorithm " + std::to_string(algorithm) + " is not ES256 (-7)");
  }
  TRY_STATUS(reader.expect_key(kContentTypeLabel));
  TRY(const std::string_view type, reader.take_text());
  TRY_STATUS(reader.expect_key(kKeyIdLabel));
  TRY(const auto key_id, reader.take_bytes());
  if (key_id.size() != key_id_.size()) {
    return corrupt("key id has " + std::to_string(key_id.size()) + " bytes, needs 32");
  }
  std::copy(key_id.begin(), key_id.end(), std::as_writable_bytes(std::span(key_id_)).begin());
  TRY_STATUS(reader.expect_key(kFormatVersionLabel));
  TRY(const std::uint64_t version, reader.take_unsigned());
  if (version < kFirstFormat || version > kNewestFormat) {
    return unsupported("format version " + std::to_string(version) + " is not 1 or 2; update this program");
  }
  format_ = static_cast<std::uint8_t>(version);
  TRY_STATUS(reader.expect_end());
  const auto* const known = std::find(kContentTypes.begin(), kContentTypes.end(), type);
  if (known == kContentTypes.end()) return unsupported("content type is none of this format's");
  type_ = static_cast<PayloadType>(known - kContentTypes.begin());
  return {};
}

Admitted<VerifiedPayload> EnvelopeOpener::open(UnverifiedEnvelope envelope) const {
  const KeyId key_id = envelope.key_id_;
  auto registered = registry_.find(key_id);
  if (!registered) {
    return refuse(RefusalReason::kUnknownKey, "key " + to_hex(key_id) + " is not registered here");
  }
  if (registered->revoked) {
    return refuse(RefusalReason::kRevoked,
                  "key " + to_hex(key_id) + " of '" + registered->owner + "' has been revoked");
  }
  if (registered->expired) {
    return refuse(RefusalReason::kExpired,
                  "the certificate of key " + to_hex(key_id) + " of '" + registered->owner + "' has ended");
  }
  const auto payload = envelope.part(envelope.payload_);
  const Bytes prefix = signature_prefix(envelope.part(envelope.protected_), payload.size());
  const std::array<std::span<const std::byte>, 2> parts = {prefix, payload};
  if (!has_low_s(envelope.signature_) || !verifier_.verify(registered->key, parts, envelope.signature_)) {
    return refuse(RefusalReason::kBadSignature,
                  "signature does not match key " + to_hex(key_id) + " of '" + registered->owner + "'");
  }
  return VerifiedPayload(std::move(registered->owner), key_id, envelope.type_, envelope.format_,
                         std::move(envelope.bytes_), envelope.payload_.offset, envelope.payload_.size);
}

}  // namespace aflguard
