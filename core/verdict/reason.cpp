#include "core/verdict/reason.h"

namespace aflguard {
namespace {

constexpr std::string_view kNoName = "unknown";
constexpr std::uint8_t kFirstRefusal = 64;

}  // namespace

// Switches without a default: the compiler warns of a value that has no name.

std::string_view to_string(Reason reason) {
  switch (reason) {
    case Reason::kAccepted:
      return "accepted";
    case Reason::kBuffered:
      return "buffered";
    case Reason::kTooFar:
      return "too-far";
    case Reason::kAgainstReference:
      return "against-reference";
    case Reason::kTooSteep:
      return "too-steep";
    case Reason::kTooFrequent:
      return "too-frequent";
    case Reason::kNotFinite:
      return "not-finite";
    case Reason::kWrongSize:
      return "wrong-size";
    case Reason::kTooOld:
      return "too-old";
    case Reason::kUnknownVersion:
      return "unknown-version";
    case Reason::kOverflow:
      return "overflow";
    case Reason::kResidualTooLong:
      return "residual-too-long";
  }
  return kNoName;
}

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
    case RefusalReason::kPaused:
      return "paused";
  }
  return kNoName;
}

std::string reason_name(std::uint8_t number) {
  const std::string_view name = number < kFirstRefusal ? to_string(static_cast<Reason>(number))
                                                       : to_string(static_cast<RefusalReason>(number));
  return name == kNoName ? "reason-" + std::to_string(number) : std::string(name);
}

}  // namespace aflguard
