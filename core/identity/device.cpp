#include "core/identity/device.h"

#include <algorithm>
#include <array>

#include "core/base/identifier.h"
#include "core/identity/certificate_serial.h"

namespace aflguard {
namespace {

constexpr std::array<std::string_view, 4> kReservedNames = {"authority", "broker", "gateway", "operator"};

}  // namespace

bool is_reserved_name(std::string_view name) {
  return std::find(kReservedNames.begin(), kReservedNames.end(), name) != kReservedNames.end();
}

Status check_device_name(std::string_view name) {
  TRY_STATUS(check_identifier("device", name));
  if (!is_reserved_name(name)) return {};
  return invalid_input(
      "device '" + std::string(name) +
      "': the names authority, broker, gateway and operator are the fleet's own; choose another");
}

Status check_device(const Device& device) {
  TRY_STATUS(check_device_name(device.name));
  if (device.keys.empty() || device.keys.size() > kMaxKeysPerDevice) {
    return corrupt("device '" + device.name + "' has " + std::to_string(device.keys.size()) + " keys, 1 to " +
                   std::to_string(kMaxKeysPerDevice) + " are allowed");
  }
  for (const DeviceKey& key : device.keys) TRY_STATUS(check_serial("device", device.name, key.serial));
  return {};
}

}  // namespace aflguard
