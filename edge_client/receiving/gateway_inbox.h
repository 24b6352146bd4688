#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/envelope/envelope.h"
#include "core/envelope/membership.h"
#include "core/envelope/messages.h"
#include "core/envelope/piece_assembler.h"
#include "core/envelope/refusal_message.h"
#include "core/verdict/refusal.h"

namespace aflguard::edge {

/// A verified verdict for this device. Its model is taken out when it is not the one that this device can
/// train: then `model_refusal` says why.
struct ReceivedVerdict {
  VerdictMessage message;
  std::optional<Refusal> model_refusal;
};

/// What a complete envelope of down/<device>/verdict may hold. An offer may be for another model than this
/// device's: it says, signed, which one the fleet trains.
using GatewayMessage = std::variant<ReceivedVerdict, RefusalMessage, OfferMessage, DifferenceMessage>;

/// From received bytes to the gateway's messages: everything is verified in here, so callers need not check
/// again. Memory is bounded by the model's size.
class GatewayInbox final {
 public:
  /// The opener is borrowed; its registry holds the gateway's keys only.
  GatewayInbox(Membership membership, const EnvelopeOpener& opener);

  /// One message of down/<device>/verdict. Nothing while pieces are missing.
  [[nodiscard]] Admitted<std::optional<GatewayMessage>> take_piece(std::span<const std::byte> message,
                                                                   std::chrono::steady_clock::time_point now);
  /// One message of the topic `model`.
  [[nodiscard]] Admitted<ModelMessage> take_model(Bytes envelope) const;

  /// The largest envelope that is taken.
  [[nodiscard]] std::size_t max_envelope_bytes() const { return max_envelope_bytes_; }

 private:
  [[nodiscard]] Admitted<VerifiedPayload> open(Bytes envelope) const;
  [[nodiscard]] Admitted<ReceivedVerdict> take_verdict(const VerifiedPayload& payload) const;
  [[nodiscard]] Admitted<RefusalMessage> take_refusal(const VerifiedPayload& payload) const;
  [[nodiscard]] Admitted<OfferMessage> take_offer(const VerifiedPayload& payload) const;
  [[nodiscard]] Admitted<DifferenceMessage> take_difference(const VerifiedPayload& payload) const;
  [[nodiscard]] std::optional<Refusal> refuse_model(const ModelMessage& model) const;
  [[nodiscard]] std::optional<Refusal> refuse_address(std::string_view what, const std::string& fleet,
                                                      const std::string& device) const;

  Membership membership_;
  const EnvelopeOpener& opener_;
  std::size_t max_envelope_bytes_;
  PieceAssembler assembler_;
};

}  // namespace aflguard::edge
