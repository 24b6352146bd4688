#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/identity/signature.h"

namespace aflguard {

/// One key of a device with the certificate that was issued for it.
struct DeviceKey {
  PublicKey public_key{};
  std::string serial;                               ///< of the certificate, lower-case hex
  std::chrono::system_clock::time_point not_after;  ///< the certificate's end, to the second

  friend bool operator==(const DeviceKey&, const DeviceKey&) = default;
};

/// A device as the fleet's book has it.
struct Device {
  std::string name;
  std::vector<DeviceKey> keys;  ///< oldest first; several while one is renewed
  bool revoked = false;         ///< for good: a revoked name never comes back
  std::chrono::system_clock::time_point enrolled;

  friend bool operator==(const Device&, const Device&) = default;
};

inline constexpr std::size_t kMaxDevicesInBook = 10'000'000;  ///< the revoked ones among them
inline constexpr std::size_t kMaxKeysPerDevice = 16;

/// Names that certificates of the fleet's own programs carry; no device may have one.
[[nodiscard]] bool is_reserved_name(std::string_view name);

/// kInvalidInput when `name` is not an identifier or is reserved.
[[nodiscard]] Status check_device_name(std::string_view name);

/// kCorrupt when the name, a serial or the number of keys is not one that a device may have.
[[nodiscard]] Status check_device(const Device& device);

}  // namespace aflguard
