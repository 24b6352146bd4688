#include "edge_client/sending/refusal_response.h"

#include "core/verdict/reason.h"

namespace aflguard::edge {
namespace {

/// What is wrong with it lies in the update itself, or in how this device makes updates.
bool is_about_the_update(RefusalReason reason) {
  return reason == RefusalReason::kMalformed || reason == RefusalReason::kNotFinite ||
         reason == RefusalReason::kWrongFleet || reason == RefusalReason::kReplayed;
}

RefusalAction action_for(const RefusalMessage& refusal) {
  if (refusal.reason == RefusalReason::kOverloaded || refusal.reason == RefusalReason::kPaused)
    return RefusalAction::kSendLater;
  if (refusal.reason == RefusalReason::kWrongModel) return RefusalAction::kFetchModel;
  if (refusal.proven && is_about_the_update(refusal.reason)) return RefusalAction::kGiveUp;
  return RefusalAction::kAskForHelp;
}

std::string advice(RefusalReason reason) {
  switch (reason) {
    case RefusalReason::kUnknownKey:
      return "; the gateway does not know this device's key: enrol it with 'aflguard device'";
    case RefusalReason::kRevoked:
      return "; this device was revoked";
    case RefusalReason::kExpired:
      return "; renew the certificate with 'aflguard device' and restart the client";
    case RefusalReason::kUnsupported:
      return "; gateway and client need versions that fit";
    default:
      return {};
  }
}

}  // namespace

RefusalResponse respond_to(const RefusalMessage& refusal, std::uint64_t sequence) {
  const std::string reason = reason_name(static_cast<std::uint8_t>(refusal.reason));
  std::string text = "update " + std::to_string(sequence) + " was refused (" + reason + ")";
  if (!refusal.text.empty()) text += ": " + refusal.text;
  return {action_for(refusal), refusal.come_back, text + advice(refusal.reason)};
}

}  // namespace aflguard::edge
