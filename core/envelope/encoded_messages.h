#pragma once

#include "core/encoding/vector_codec.h"
#include "core/envelope/message_codec.h"

namespace aflguard {

// Format 2 of docs/wire-format.md: updates whose vector is encoded, models as differences, and what a gateway
// offers.

/// `vector` in place of update.vector. kInvalidInput when a field is outside its range.
[[nodiscard]] Result<Payload> encode_compact(const UpdateMessage& update, const EncodedVector& vector);
/// The same payload, which borrows the bytes of `vector`.
[[nodiscard]] Result<BorrowedPayload> encode_compact_borrowed(const UpdateMessage& update,
                                                              const EncodedVector& vector);
Result<BorrowedPayload> encode_compact_borrowed(const UpdateMessage&, EncodedVector&&) = delete;
[[nodiscard]] Result<Payload> encode(const OfferMessage& offer);
[[nodiscard]] Result<Payload> encode(const DifferenceMessage& difference);

/// An update of format 2, its vector decoded. Refused before there is memory for the vector: an encoding that
/// is unknown or not in limits.taken (unsupported), more numbers than the limit, sizes that do not fit,
/// scales that are not finite (not-finite).
[[nodiscard]] Admitted<UpdateMessage> decode_encoded_update(const VerifiedPayload& payload,
                                                            const UpdateLimits& limits);
[[nodiscard]] Admitted<OfferMessage> decode_offer(const VerifiedPayload& payload);
/// Its bytes are not looked at yet.
[[nodiscard]] Admitted<DifferenceMessage> decode_difference(const VerifiedPayload& payload);

/// What the gateway signs of a model, so that a device knows that it has put the same one together.
[[nodiscard]] std::array<std::uint8_t, 32> model_digest(std::span<const float> parameters);
/// The model that a difference to `base` makes, refused unless it has the digest that was signed: a
/// difference to another version, or to another model of that number (wrong-model), and damaged bytes
/// (malformed).
[[nodiscard]] Admitted<ModelMessage> apply(const DifferenceMessage& difference, const ModelMessage& base);

}  // namespace aflguard
