#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/base/result.h"

namespace aflguard {

/// Why a message was refused before the guard saw it. The numbers travel in verdicts, above the guard's own
/// reasons, and never change meaning (docs/wire-format.md).
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
};

[[nodiscard]] std::string_view to_string(RefusalReason reason);  // "malformed", "bad-signature", ...

/// One message that was not taken: what to count, and one line for the log.
struct Refusal {
  RefusalReason reason = RefusalReason::kMalformed;
  std::string message;
};

[[nodiscard]] inline Refusal refuse(RefusalReason reason, std::string message) {
  return {reason, std::move(message)};
}

/// A value, or the refusal of the message that it would have come from. Works with TRY like Result<T>;
/// a decoder's Error becomes a refusal as malformed, or as unsupported where it says so.
template <typename T>
class [[nodiscard]] Admitted {
 public:
  Admitted(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit by design
  Admitted(Refusal refusal)                                                // NOLINT: implicit by design
      : state_(std::in_place_index<1>, std::move(refusal)) {}
  Admitted(const Error& error)  // NOLINT: implicit by design
      : state_(std::in_place_index<1>,
               Refusal{error.kind == ErrorKind::kUnsupported ? RefusalReason::kUnsupported
                                                             : RefusalReason::kMalformed,
                       error.message}) {}

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] T& value() & {
    check(ok(), "value() of a refused message");
    return std::get<0>(state_);
  }
  [[nodiscard]] const T& value() const& {
    check(ok(), "value() of a refused message");
    return std::get<0>(state_);
  }
  [[nodiscard]] T&& value() && {
    check(ok(), "value() of a refused message");
    return std::get<0>(std::move(state_));
  }
  [[nodiscard]] const Refusal& error() const {
    check(!ok(), "error() of an admitted message");
    return std::get<1>(state_);
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Refusal> state_;
};

}  // namespace aflguard
