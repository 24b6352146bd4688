#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/base/check.h"

namespace aflguard {

/// Why an operation failed. Numbers never change meaning; new kinds are appended.
enum class ErrorKind : std::uint8_t {
  kInvalidInput = 1,  ///< a value, file or message that the caller gave is wrong
  kNotFound = 2,      ///< a file, device, library or data set is missing
  kUnsupported = 3,   ///< well-formed, but outside what this build can do
  kCorrupt = 4,       ///< stored or received bytes fail their own checks
  kIo = 5,            ///< the operating system refused
  kUnavailable = 6,   ///< may work later: network, broker, lock
  kInternal = 7,      ///< a library failed in a way we did not expect
};

[[nodiscard]] std::string_view to_string(ErrorKind kind);

/// An expected failure. The message is one line: the thing, its value, the limit, and what to do.
struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;

  friend bool operator==(const Error&, const Error&) = default;
};

[[nodiscard]] inline Error invalid_input(std::string message) {
  return {ErrorKind::kInvalidInput, std::move(message)};
}
[[nodiscard]] inline Error not_found(std::string message) {
  return {ErrorKind::kNotFound, std::move(message)};
}
[[nodiscard]] inline Error unsupported(std::string message) {
  return {ErrorKind::kUnsupported, std::move(message)};
}
[[nodiscard]] inline Error corrupt(std::string message) {
  return {ErrorKind::kCorrupt, std::move(message)};
}
[[nodiscard]] inline Error io_error(std::string message) {
  return {ErrorKind::kIo, std::move(message)};
}
[[nodiscard]] inline Error unavailable(std::string message) {
  return {ErrorKind::kUnavailable, std::move(message)};
}
[[nodiscard]] inline Error internal_error(std::string message) {
  return {ErrorKind::kInternal, std::move(message)};
}

/// A value or the reason why there is none. Reading the wrong side is a bug and aborts.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit by design
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit by design

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] T& value() & {
    check(ok(), "value() of a failed Result");
    return std::get<0>(state_);
  }
  [[nodiscard]] const T& value() const& {
    check(ok(), "value() of a failed Result");
    return std::get<0>(state_);
  }
  [[nodiscard]] T&& value() && {
    check(ok(), "value() of a failed Result");
    return std::get<0>(std::move(state_));
  }
  [[nodiscard]] const Error& error() const {
    check(!ok(), "error() of a successful Result");
    return std::get<1>(state_);
  }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Error> state_;
};

/// Success without a value, or the reason of the failure.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit by design

  [[nodiscard]] bool ok() const { return error_.index() == 0; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const {
    check(!ok(), "error() of a successful Result");
    return std::get<1>(error_);
  }

 private:
  std::variant<std::monostate, Error> error_;
};

using Status = Result<void>;

/// The same failure with the place where it happened in front: "PLACE: message".
[[nodiscard]] inline Error at(std::string_view place, const Error& error) {
  return {error.kind, std::string(place) + ": " + error.message};
}

}  // namespace aflguard

#define AFLGUARD_CONCAT_INNER(a, b) a##b
#define AFLGUARD_CONCAT(a, b) AFLGUARD_CONCAT_INNER(a, b)
#define AFLGUARD_TRY_INNER(result, declaration, ...) \
  auto result = (__VA_ARGS__);                       \
  if (!result.ok()) return result.error();           \
  declaration = std::move(result).value()

/// TRY(auto x, f()): x is f()'s value, or this function returns f()'s error.
#define TRY(declaration, ...) \
  AFLGUARD_TRY_INNER(AFLGUARD_CONCAT(try_result_, __LINE__), declaration, __VA_ARGS__)

/// TRY_STATUS(f()): this function returns f()'s error, if there is one.
#define TRY_STATUS(...)                                                               \
  do {                                                                                \
    if (auto try_status = (__VA_ARGS__); !try_status.ok()) return try_status.error(); \
  } while (false)
