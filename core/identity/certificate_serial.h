#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace aflguard {

/// Lower-case hex digits, as books write bytes.
[[nodiscard]] inline bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

/// kCorrupt unless `serial` is a certificate's: 1 to 40 lower-case hex digits (RFC 5280: 20 bytes). `kind`
/// and `owner` say whose: "device", "pi-1".
[[nodiscard]] inline Status check_serial(std::string_view kind, const std::string& owner,
                                         const std::string& serial) {
  constexpr std::size_t kMaxDigits = 40;
  if (!serial.empty() && serial.size() <= kMaxDigits && is_hex(serial)) return {};
  return corrupt(std::string(kind) + " '" + owner + "' has the serial '" + serial.substr(0, 48) +
                 "'; 1 to 40 lower-case hex digits are allowed");
}

}  // namespace aflguard
