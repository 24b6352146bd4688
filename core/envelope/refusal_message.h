#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "core/envelope/envelope.h"
#include "core/verdict/refusal.h"

namespace aflguard {

inline constexpr std::size_t kMaxRefusalText = 200;
/// A device waits no longer, whatever it is told.
inline constexpr std::chrono::milliseconds kLongestComeBack = std::chrono::hours(1);

/// What the gateway answers when it does not judge an update, or not now. It names the envelope by its
/// transfer id: often it was not opened.
struct RefusalMessage {
  std::string fleet;
  std::string device;          ///< on whose topic the update came
  std::uint64_t transfer = 0;  ///< transfer_id_of() the refused envelope
  std::uint64_t sequence = 0;  ///< of the refused update; 0: not known
  RefusalReason reason = RefusalReason::kMalformed;
  /// The device's signature matched. Otherwise all that is known is who may write to the topic, and that is
  /// the broker's word: a device gives up no update for it.
  bool proven = false;
  std::chrono::milliseconds come_back{0};  ///< after so long; 0: as the device sees fit
  std::string text;                        ///< what is wrong, for people: printable ASCII

  friend bool operator==(const RefusalMessage&, const RefusalMessage&) = default;
};

/// CBOR map of docs/wire-format.md. kInvalidInput when a field is outside its range.
[[nodiscard]] Result<Payload> encode(const RefusalMessage& refusal);
/// Refused as unsupported when the payload is of another type, as malformed otherwise.
[[nodiscard]] Admitted<RefusalMessage> decode_refusal(const VerifiedPayload& payload);

}  // namespace aflguard
