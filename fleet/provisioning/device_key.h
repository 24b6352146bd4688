#pragma once

#include <filesystem>
#include <string>

#include "fleet/folder/fleet_folder.h"

namespace aflguard::fleet {

/// Whether the fleet's folder holds the device's key. False for devices that were enrolled with a request:
/// their key has never left the board.
[[nodiscard]] inline bool has_key(const FleetFolder& folder, const std::string& device) {
  std::error_code error;
  return std::filesystem::exists(folder.device(device) / "device.key", error);
}

}  // namespace aflguard::fleet
