#pragma once

#include "fleet/folder/fleet_folder.h"
#include "fleet/provisioning_openssl/openssl_authority.h"

namespace aflguard::fleet {

/// The authority of the fleet in that folder; kNotFound when its key is kept elsewhere.
[[nodiscard]] Result<OpensslAuthority> load_authority(const FleetFolder& folder);

}  // namespace aflguard::fleet
