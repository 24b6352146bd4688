#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "fleet/folder/fleet_folder.h"
#include "fleet/folder/fleet_settings.h"
#include "fleet/folder/viewer_book.h"

namespace aflguard::fleet {

/// The account that runs this program.
[[nodiscard]] std::string current_user_name();

/// Mosquitto's configuration for a fleet whose folder is at `folder.root`, an absolute path. `user` is whom a
/// broker that root started turns into: the owner of the files. kInvalidInput when the path has characters
/// that Mosquitto cannot read.
[[nodiscard]] Result<std::string> mosquitto_configuration(const FleetSettings& settings,
                                                          const FleetFolder& folder, const std::string& user);

/// Who may write and read which topic. Certificates make the names; a revoked name may do nothing, which
/// holds for a live session too, as soon as the broker has read the list again.
[[nodiscard]] std::string broker_access_list(const FleetSettings& settings,
                                             const std::vector<std::string>& revoked_devices,
                                             const ViewerBook& viewers);

}  // namespace aflguard::fleet
