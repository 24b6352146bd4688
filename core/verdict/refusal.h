#pragma once

#include <string>
#include <utility>
#include <variant>

#include "core/base/result.h"
#include "core/verdict/reason.h"

namespace aflguard {

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
