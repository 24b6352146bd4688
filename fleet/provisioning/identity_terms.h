#pragma once

#include <chrono>
#include <string>

#include "fleet/folder/fleet_settings.h"
#include "fleet/provisioning/certificate_authority.h"

namespace aflguard::fleet {

/// What the certificates of a fleet say, by who they are for.
[[nodiscard]] CertificateOptions device_terms(const FleetSettings& settings, const std::string& name,
                                              int days, std::chrono::system_clock::time_point now);
[[nodiscard]] CertificateOptions gateway_terms(const FleetSettings& settings,
                                               std::chrono::system_clock::time_point now);
[[nodiscard]] CertificateOptions viewer_terms(const FleetSettings& settings, const std::string& name,
                                              int days, std::chrono::system_clock::time_point now);
/// Names the broker's host, and this machine, where the gateway often runs too.
[[nodiscard]] CertificateOptions broker_terms(const FleetSettings& settings,
                                              std::chrono::system_clock::time_point now);

}  // namespace aflguard::fleet
