#pragma once

#include <cstdint>
#include <string>

#include "core/envelope/envelope.h"
#include "core/envelope/messages.h"
#include "core/verdict/refusal.h"

namespace aflguard {

inline constexpr std::size_t kMaxTrialText = 200;

/// What a device found when it tried a model that it is a canary for, signed with its own key: it loaded the
/// package, read its samples and trained on them.
struct TrialReport {
  std::string fleet;
  std::uint64_t release = 1;  ///< number of the order
  ModelHash model_hash{};
  bool passed = false;
  std::string text;  ///< for people: what is wrong, or the loss; printable ASCII

  friend bool operator==(const TrialReport&, const TrialReport&) = default;
};

/// CBOR map of docs/wire-format.md. kInvalidInput when a field is outside its range.
[[nodiscard]] Result<Payload> encode(const TrialReport& report);
/// Refused as unsupported when the payload is of another type, as malformed otherwise.
[[nodiscard]] Admitted<TrialReport> decode_trial(const VerifiedPayload& payload);
/// As much of a text as a report takes.
[[nodiscard]] std::string trial_text(std::string text);

}  // namespace aflguard
