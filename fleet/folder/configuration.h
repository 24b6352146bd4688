#pragma once

#include <string>

#include "fleet/folder/fleet_settings.h"

namespace aflguard::fleet {

/// The commented example configurations that the programs' parts keep beside their code.
[[nodiscard]] const char* gateway_example();
[[nodiscard]] const char* client_example();

/// The example with the fleet's own values filled in; what only its owner knows stays an example.
[[nodiscard]] std::string gateway_configuration(const FleetSettings& settings);
[[nodiscard]] std::string client_configuration(const FleetSettings& settings, const std::string& device);

}  // namespace aflguard::fleet
