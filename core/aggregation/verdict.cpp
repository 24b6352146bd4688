#include "core/aggregation/verdict.h"

namespace aflguard {

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
  }
  return "unknown";
}

}  // namespace aflguard
