#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/encoding/vector_codec.h"
#include "core/envelope/envelope.h"
#include "core/envelope/membership.h"
#include "core/envelope/messages.h"

namespace aflguard::edge {

/// [training] encoding: one for all updates, or nothing: the smallest that errs by less than 1 %.
using EncodingWish = std::optional<Encoding>;

/// An update sealed in format 2, as the gateway's offer allows. An encoding that the gateway does not take,
/// or that cannot hold these numbers, gives way to the next larger one. The dice of the rounding come from
/// the key and the sequence number: never the same for two updates. The update's vector is given back to the
/// system as soon as it is encoded: a large model has many megabytes of it.
[[nodiscard]] Result<SealedEnvelope> seal_as_offered(UpdateMessage update, const OfferMessage& offer,
                                                     EncodingWish wish, EnvelopeSealer& sealer);

/// A sealed update of format 2 sealed again in format 1: the same numbers, for a gateway that no longer says
/// that it takes more. Nothing when it is in format 1 already. `own_key` has signed it.
[[nodiscard]] Result<std::optional<Bytes>> in_first_format(std::uint64_t sequence,
                                                           std::span<const std::byte> envelope,
                                                           const Membership& membership,
                                                           EnvelopeSealer& sealer, const Verifier& verifier);

}  // namespace aflguard::edge
