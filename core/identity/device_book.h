#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
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

struct Device {
  std::string name;
  std::vector<DeviceKey> keys;  ///< oldest first; several while one is renewed
  bool revoked = false;         ///< for good: a revoked name never comes back
  std::chrono::system_clock::time_point enrolled;

  friend bool operator==(const Device&, const Device&) = default;
};

/// Every device that a fleet has ever enrolled, in the order of enrolment. Written by `aflguard device ...`,
/// read by the gateway while it runs.
struct DeviceBook {
  std::vector<Device> devices;

  /// Null when there is no device of that name.
  [[nodiscard]] Device* find(std::string_view name);
  [[nodiscard]] const Device* find(std::string_view name) const;

  friend bool operator==(const DeviceBook&, const DeviceBook&) = default;
};

inline constexpr std::size_t kMaxDevicesInBook = 1'000'000;
inline constexpr std::size_t kMaxKeysPerDevice = 16;

/// Names that certificates of the fleet's own programs carry; no device may have one.
[[nodiscard]] bool is_reserved_name(std::string_view name);

/// kInvalidInput when `name` is not an identifier or is reserved.
[[nodiscard]] Status check_device_name(std::string_view name);

/// The book in JSON (docs/operate.md). kNotFound when there is no file, kCorrupt with the path when it is not
/// a device book, repeats a name or a key, or exceeds a limit.
[[nodiscard]] Result<DeviceBook> read_device_book(const std::filesystem::path& path);

/// Whole or not at all; a reader sees the old book or the new one. kInvalidInput when it could not be read
/// back.
[[nodiscard]] Status write_device_book(const std::filesystem::path& path, const DeviceBook& book);

}  // namespace aflguard
