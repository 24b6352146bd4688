#pragma once

#include <chrono>
#include <string>

#include "core/envelope/envelope.h"
#include "core/verdict/refusal.h"

namespace aflguard {

inline constexpr std::size_t kMaxRenewalBytes = 16u << 10;  ///< of an envelope

/// A device asks for a new certificate. The envelope is signed with the key of its present certificate, the
/// request inside with the new one: who sends it has both.
struct RenewalMessage {
  std::string fleet;
  std::string device;
  std::chrono::system_clock::time_point time;  ///< by the device's clock, to the second
  std::string request;                         ///< PKCS#10, PEM

  friend bool operator==(const RenewalMessage&, const RenewalMessage&) = default;
};

/// CBOR map of docs/wire-format.md. kInvalidInput when a field is outside its range.
[[nodiscard]] Result<Payload> encode(const RenewalMessage& renewal);
/// Refused as unsupported when the payload is of another type, as malformed otherwise.
[[nodiscard]] Admitted<RenewalMessage> decode_renewal(const VerifiedPayload& payload);

}  // namespace aflguard
