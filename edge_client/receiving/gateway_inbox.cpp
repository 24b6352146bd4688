#include "edge_client/receiving/gateway_inbox.h"

#include "core/envelope/encoded_messages.h"
#include "core/envelope/message_codec.h"

namespace aflguard::edge {
namespace {

PieceAssemblerLimits limits_for(std::size_t max_envelope_bytes) {
  PieceAssemblerLimits limits;
  limits.max_envelope_bytes = max_envelope_bytes;
  limits.max_bytes_per_source = 2 * max_envelope_bytes;
  limits.max_bytes = 2 * (max_envelope_bytes + kTransferOverhead);
  limits.max_transfers_per_source = 2;
  limits.finished_places = 1;
  return limits;
}

/// There is one gateway: its signature decides, not who the broker lets write to that topic.
constexpr std::string_view kSource = "gateway";

}  // namespace

GatewayInbox::GatewayInbox(Membership membership, const EnvelopeOpener& opener)
    : membership_(std::move(membership)),
      opener_(opener),
      max_envelope_bytes_(max_envelope_for(membership_.dimension)),
      assembler_(limits_for(max_envelope_bytes_)) {}

Admitted<VerifiedPayload> GatewayInbox::open(Bytes envelope) const {
  TRY(UnverifiedEnvelope unverified, UnverifiedEnvelope::parse(std::move(envelope), max_envelope_bytes_));
  return opener_.open(std::move(unverified));
}

std::optional<Refusal> GatewayInbox::refuse_model(const ModelMessage& model) const {
  if (model.fleet != membership_.fleet) {
    return refuse(RefusalReason::kWrongFleet,
                  "a model of fleet '" + model.fleet + "', this device is in '" + membership_.fleet + "'");
  }
  if (model.model_hash != membership_.model_hash) {
    return refuse(RefusalReason::kWrongModel, "the fleet trains model " +
                                                  to_hex(std::span(model.model_hash).first(6)) +
                                                  "..., this device has the package of " +
                                                  to_hex(std::span(membership_.model_hash).first(6)) +
                                                  "...; install the fleet's model package");
  }
  if (model.vector.size() != membership_.dimension) {
    return refuse(RefusalReason::kWrongModel, "a model of " + std::to_string(model.vector.size()) +
                                                  " parameters, the package has " +
                                                  std::to_string(membership_.dimension));
  }
  return std::nullopt;
}

std::optional<Refusal> GatewayInbox::refuse_address(std::string_view what, const std::string& fleet,
                                                    const std::string& device) const {
  if (fleet == membership_.fleet && device == membership_.device) return std::nullopt;
  return refuse(RefusalReason::kWrongFleet, std::string(what) + " for '" + device + "' in fleet '" + fleet +
                                                "', this is '" + membership_.device + "' in '" +
                                                membership_.fleet + "'");
}

Admitted<std::optional<GatewayMessage>> GatewayInbox::take_piece(std::span<const std::byte> message,
                                                                 std::chrono::steady_clock::time_point now) {
  assembler_.expire(now);
  TRY(auto envelope, assembler_.accept(kSource, message, now));
  if (!envelope) return std::optional<GatewayMessage>{};
  TRY(const VerifiedPayload payload, open(std::move(*envelope)));
  switch (payload.type()) {
    case PayloadType::kRefusal: {
      TRY(RefusalMessage refusal, take_refusal(payload));
      return std::optional<GatewayMessage>(std::move(refusal));
    }
    case PayloadType::kOffer: {
      TRY(OfferMessage offer, take_offer(payload));
      return std::optional<GatewayMessage>(std::move(offer));
    }
    case PayloadType::kDifference: {
      TRY(DifferenceMessage difference, take_difference(payload));
      return std::optional<GatewayMessage>(std::move(difference));
    }
    default: {
      TRY(ReceivedVerdict verdict, take_verdict(payload));
      return std::optional<GatewayMessage>(std::move(verdict));
    }
  }
}

Admitted<RefusalMessage> GatewayInbox::take_refusal(const VerifiedPayload& payload) const {
  TRY(RefusalMessage refusal, decode_refusal(payload));
  if (auto strange = refuse_address("a refusal", refusal.fleet, refusal.device)) return std::move(*strange);
  return refusal;
}

Admitted<ReceivedVerdict> GatewayInbox::take_verdict(const VerifiedPayload& payload) const {
  ReceivedVerdict verdict;
  TRY(verdict.message, decode_verdict(payload));
  if (auto strange = refuse_address("a verdict", verdict.message.fleet, verdict.message.device)) {
    return std::move(*strange);
  }
  if (verdict.message.model) verdict.model_refusal = refuse_model(*verdict.message.model);
  if (verdict.model_refusal) verdict.message.model.reset();
  return verdict;
}

Admitted<DifferenceMessage> GatewayInbox::take_difference(const VerifiedPayload& payload) const {
  TRY(DifferenceMessage difference, decode_difference(payload));
  if (difference.terms.fleet != membership_.fleet || difference.terms.model_hash != membership_.model_hash) {
    return refuse(RefusalReason::kWrongFleet, "a difference of fleet '" + difference.terms.fleet +
                                                  "', or for another model than this device's");
  }
  return difference;
}

Admitted<OfferMessage> GatewayInbox::take_offer(const VerifiedPayload& payload) const {
  TRY(OfferMessage offer, decode_offer(payload));
  if (offer.fleet == membership_.fleet) return offer;
  return refuse(RefusalReason::kWrongFleet, "an offer of fleet '" + offer.fleet + "'");
}

Admitted<ModelMessage> GatewayInbox::take_model(Bytes envelope) const {
  TRY(const VerifiedPayload payload, open(std::move(envelope)));
  TRY(ModelMessage model, decode_model(payload));
  if (auto refusal = refuse_model(model)) return std::move(*refusal);
  return model;
}

}  // namespace aflguard::edge
