#pragma once

#include <array>
#include <mbedtls/error.h>
#include <string>

#include "core/base/result.h"

namespace aflguard {

/// What Mbed TLS says about one of its error codes, behind what was being done.
[[nodiscard]] inline Error mbedtls_failure(ErrorKind kind, const std::string& what, int code) {
  std::array<char, 128> text{};
  mbedtls_strerror(code, text.data(), text.size());
  return {kind, what + ": " + text.data()};
}

}  // namespace aflguard
