#include "edge_client/sending/update_encoding.h"

#include <array>
#include <cstring>
#include <limits>

#include "core/base/byte_cursor.h"
#include "core/base/sha256.h"
#include "core/envelope/encoded_messages.h"
#include "edge_client/sending/waiting_update.h"

namespace aflguard::edge {
namespace {

std::uint64_t seed_of(const KeyId& key, std::uint64_t sequence) {
  Bytes text;
  ByteWriter writer(text);
  writer.put(std::as_bytes(std::span(key)));
  writer.put_little_endian(sequence);
  const Sha256Digest digest = sha256(std::span<const std::byte>(text));
  std::uint64_t seed = 0;
  std::memcpy(&seed, digest.data(), sizeof(seed));
  return seed;
}

/// What is left of an offer when one encoding is wished for: it, and what is larger.
EncodingSet narrowed(const EncodingSet& offered, Encoding wish) {
  EncodingSet left = offered;
  constexpr std::array kSmallestFirst = {Encoding::kInt4, Encoding::kInt8, Encoding::kFloat16};
  for (const Encoding smaller : kSmallestFirst) {
    if (smaller == wish) break;
    left.remove(smaller);
  }
  return left;
}

}  // namespace

Result<SealedEnvelope> seal_as_offered(UpdateMessage update, const OfferMessage& offer, EncodingWish wish,
                                       EnvelopeSealer& sealer) {
  const EncodingSet taken = wish ? narrowed(offer.taken, *wish) : offer.taken;
  const double most_error = wish ? std::numeric_limits<double>::infinity() : kMostRelativeError;
  TRY(ChosenEncoding chosen,
      choose_encoding(update.vector, taken, most_error, seed_of(sealer.key_id(), update.sequence)));
  update.vector = {};
  if (taken.has(Packing::kZstd)) {
    TRY(chosen.vector, packed(std::move(chosen.vector)));
  }
  TRY(const BorrowedPayload payload, encode_compact_borrowed(update, chosen.vector));
  return sealer.seal_borrowed(payload);
}

Result<std::optional<Bytes>> in_first_format(std::uint64_t sequence, std::span<const std::byte> envelope,
                                             const Membership& membership, EnvelopeSealer& sealer,
                                             const Verifier& verifier) {
  const PublicKey& own_key = sealer.public_key();
  SpooledUpdate sealed{sequence, Bytes(envelope.begin(), envelope.end()),
                       UpdateAuthor{membership.device, own_key}};
  const auto opened = open_waiting_update(std::move(sealed), membership, own_key, verifier);
  if (!opened.ok()) return internal_error("its envelope does not open: " + opened.error().message);
  if (opened->format() == kFirstFormat) return std::optional<Bytes>();
  const auto update = decode_update(*opened, {.numbers = membership.dimension});
  if (!update.ok()) return internal_error(update.error().message);
  TRY(const BorrowedPayload payload, encode_borrowed(*update));
  TRY(SealedEnvelope again, sealer.seal_borrowed(payload));
  return std::optional<Bytes>(std::move(again).release());
}

}  // namespace aflguard::edge
