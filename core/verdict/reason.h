#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace aflguard {

/// Why the guard accepted or rejected an update. Numbers and names are stored and sent: they never change
/// meaning. Below 64.
enum class Reason : std::uint8_t {
  kAccepted = 0,
  kBuffered = 1,          ///< taken, and kept until the guard has enough updates to move the model
  kTooFar = 2,            ///< further from the reference update than the bound (AFLGuard)
  kAgainstReference = 3,  ///< no positive inner product with the reference update (Zeno++)
  kTooSteep = 4,          ///< empirical Lipschitz coefficient above the median (Kardam)
  kTooFrequent = 5,       ///< this client sent too many of the latest accepted updates (Kardam)
  kNotFinite = 6,         ///< the vector holds a NaN or an infinity
  kWrongSize = 7,         ///< the vector's length is not the model's dimension
  kTooOld = 8,            ///< computed on a version that is no longer admitted
  kUnknownVersion = 9,    ///< computed on a version that does not exist yet
  kOverflow = 10,         ///< applying it would take a parameter out of float's range
  kResidualTooLong = 11,  ///< what the trusted classes do not explain is longer than the bound (SpanGuard)
};

/// Why a message was refused before the guard saw it. From 64 on, so that one number of a verdict says which
/// of the two it was (docs/wire-format.md). Numbers and names never change meaning.
enum class RefusalReason : std::uint8_t {
  kMalformed = 64,      ///< not this format, or a field outside its range
  kOversized = 65,      ///< larger than the receiver's limit
  kUnsupported = 66,    ///< another algorithm, content type or format version
  kUnknownKey = 67,     ///< the key id is in no registry
  kRevoked = 68,        ///< the key's device has been revoked
  kBadSignature = 69,   ///< the signature does not match, or its s is high
  kWrongFleet = 70,     ///< signed for another fleet
  kWrongModel = 71,     ///< another layout hash or another length
  kReplayed = 72,       ///< a sequence number too old to be judged
  kNotFinite = 73,      ///< the vector holds a NaN or an infinity
  kOverloaded = 74,     ///< the receiver's memory limit is reached
  kForeignSender = 75,  ///< signed by another device than the one whose topic it came on
  kExpired = 76,        ///< the certificate of the key that signed has ended
  kPaused = 77,         ///< the operator has paused the device; it may come back
};

/// "accepted", "too-far", "malformed", ...; "unknown" for a number that has no name.
[[nodiscard]] std::string_view to_string(Reason reason);
[[nodiscard]] std::string_view to_string(RefusalReason reason);

/// The name of a verdict's reason, the guard's or a refusal's; "reason-N" for a number of a later version.
[[nodiscard]] std::string reason_name(std::uint8_t number);

}  // namespace aflguard
