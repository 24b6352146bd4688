#include "core/verdict/refusal.h"

namespace aflguard {

std::string_view to_string(RefusalReason reason) {
  switch (reason) {
    case RefusalReason::kMalformed:
      return "malformed";
    case RefusalReason::kOversized:
      return "oversized";
    case RefusalReason::kUnsupported:
      return "unsupported";
    case RefusalReason::kUnknownKey:
      return "unknown-key";
    case RefusalReason::kRevoked:
      return "revoked";
    case RefusalReason::kBadSignature:
      return "bad-signature";
    case RefusalReason::kWrongFleet:
      return "wrong-fleet";
    case RefusalReason::kWrongModel:
      return "wrong-model";
    case RefusalReason::kReplayed:
      return "replayed";
    case RefusalReason::kNotFinite:
      return "not-finite";
    case RefusalReason::kOverloaded:
      return "overloaded";
    case RefusalReason::kForeignSender:
      return "foreign-sender";
    case RefusalReason::kExpired:
      return "expired";
  }
  return "unknown";
}

}  // namespace aflguard
