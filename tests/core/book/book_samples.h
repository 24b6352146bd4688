#pragma once

#include <string>

#include "core/base/rfc3339.h"
#include "core/identity/device.h"

namespace aflguard::testing {

inline DeviceKey sample_key(std::uint8_t number) {
  DeviceKey made{.public_key = {}, .serial = "0a" + std::to_string(number), .not_after = {}};
  made.public_key.fill(number);
  made.public_key[0] = 4;
  made.not_after = parse_rfc3339("2027-01-02T03:04:05Z").value();
  return made;
}

inline Device sample_device(const std::string& name, std::uint8_t number) {
  return {name, {sample_key(number)}, false, parse_rfc3339("2026-01-02T03:04:05Z").value()};
}

/// What an older version wrote for sample_device(name, number).
inline std::string sample_json(const std::string& name, std::uint8_t number, bool revoked = false) {
  return R"({"name": ")" + name + R"(", "keys": [{"public_key": ")" + to_hex(sample_key(number).public_key) +
         R"(", "serial": ")" + sample_key(number).serial +
         R"(", "not_after": "2027-01-02T03:04:05Z"}], "revoked": )" + (revoked ? "true" : "false") +
         R"(, "enrolled": "2026-01-02T03:04:05Z"})";
}

inline std::string sample_json_book(const std::string& devices) {
  return R"({"schema": "aflguard-device-book-1", "devices": [)" + devices + "]}\n";
}

}  // namespace aflguard::testing
