#pragma once

#include "core/cbor/cbor.h"
#include "core/encoding/encoding.h"
#include "core/envelope/envelope.h"
#include "core/envelope/messages.h"
#include "core/verdict/refusal.h"

namespace aflguard {

/// What an envelope holds beside its vector: every other field of the largest message, header, signature.
inline constexpr std::size_t kRoomForFields = 1024;
/// No message with a vector of so many numbers makes a larger envelope.
[[nodiscard]] constexpr std::size_t max_envelope_for(std::size_t dimension) {
  return dimension * sizeof(float) + kRoomForFields;
}

/// CBOR maps of docs/wire-format.md. kInvalidInput when a field is outside its range: the sender finds its
/// own mistakes before it signs them.
[[nodiscard]] Result<Payload> encode(const UpdateMessage& update);
[[nodiscard]] Result<Payload> encode(const VerdictMessage& verdict);
[[nodiscard]] Result<Payload> encode(const ModelMessage& model);

/// The same payload, which borrows its vector from `update`.
[[nodiscard]] Result<BorrowedPayload> encode_borrowed(const UpdateMessage& update);
Result<BorrowedPayload> encode_borrowed(UpdateMessage&&) = delete;

/// What a receiver of updates takes.
struct UpdateLimits {
  std::size_t numbers = kDefaultMaxEnvelopeBytes / sizeof(float);  ///< of a vector that is encoded
  EncodingSet taken = EncodingSet::all();                          ///< beside format 1
};

/// Messages are decoded from verified payloads only. Refused as unsupported when the payload is of another
/// type, as not-finite when a vector holds a NaN or an infinity, as malformed otherwise.
[[nodiscard]] Admitted<UpdateMessage> decode_update(const VerifiedPayload& payload,
                                                    const UpdateLimits& limits = {});
[[nodiscard]] Admitted<VerdictMessage> decode_verdict(const VerifiedPayload& payload);
[[nodiscard]] Admitted<ModelMessage> decode_model(const VerifiedPayload& payload);

}  // namespace aflguard
