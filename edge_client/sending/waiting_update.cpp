#include "edge_client/sending/waiting_update.h"

#include "core/base/short_text.h"
#include "core/envelope/message_codec.h"

namespace aflguard::edge {
namespace {

std::string short_name(const ModelHash& hash) {
  return short_hash(to_hex(hash));
}

std::optional<Refusal> refuse_update(const UpdateMessage& update, std::uint64_t sequence,
                                     const Membership& membership) {
  if (update.fleet != membership.fleet) {
    return refuse(RefusalReason::kWrongFleet,
                  "it is for fleet '" + update.fleet + "', this device is in '" + membership.fleet + "'");
  }
  if (update.model_hash != membership.model_hash) {
    return refuse(RefusalReason::kWrongModel, "it was computed on model " + short_name(update.model_hash) +
                                                  ", this device has the package of " +
                                                  short_name(membership.model_hash));
  }
  if (update.vector.size() != membership.dimension) {
    return refuse(RefusalReason::kWrongModel, "it has " + std::to_string(update.vector.size()) +
                                                  " numbers, the model has " +
                                                  std::to_string(membership.dimension));
  }
  if (update.sequence != sequence) {
    return refuse(RefusalReason::kMalformed, "its envelope has number " + std::to_string(update.sequence));
  }
  return std::nullopt;
}

}  // namespace

Admitted<VerifiedPayload> open_waiting_update(SpooledUpdate waiting, const Membership& membership,
                                              const PublicKey& own_key, const Verifier& verifier) {
  const UpdateAuthor author = waiting.author.value_or(UpdateAuthor{membership.device, own_key});
  // Another device's numbers are not ours, and it may have sent this update itself: on a card that was
  // copied.
  if (author.device != membership.device) {
    return refuse(RefusalReason::kForeignSender,
                  "it is of device '" + author.device + "', this is '" + membership.device + "'");
  }
  const std::size_t size = waiting.envelope.size();
  TRY(UnverifiedEnvelope envelope, UnverifiedEnvelope::parse(std::move(waiting.envelope), size));
  if (!waiting.author && envelope.claimed_key() != key_id_of(own_key)) {
    return refuse(RefusalReason::kUnknownKey,
                  "it is signed with another key than this device's, and its file does not say whose");
  }
  KeyTable author_key;
  TRY_STATUS(author_key.add(author.device, author.key));
  TRY(VerifiedPayload payload, EnvelopeOpener(author_key, verifier).open(std::move(envelope)));
  TRY(const UpdateMessage update, decode_update(payload, {.numbers = membership.dimension}));
  if (auto refusal = refuse_update(update, waiting.sequence, membership)) return std::move(*refusal);
  return payload;
}

}  // namespace aflguard::edge
