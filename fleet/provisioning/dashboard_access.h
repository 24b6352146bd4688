#pragma once

#include <string>

#include "core/base/result.h"
#include "fleet/folder/fleet_folder.h"
#include "fleet/folder/fleet_settings.h"
#include "fleet/provisioning/certificate_authority.h"

namespace aflguard::fleet {

/// The dashboard's way into the broker (docs/dashboard.md): a separate listener for WebSockets over TLS.
/// Browsers and client certificates do not go together well, so it takes a password, and only of users that
/// may read what is for people to read and ask for history.
///
/// A client that chooses its id can push out another client of that id in Mosquitto, the gateway too. So the
/// user's name is the client id here as well, and there are several users, dashboard~1 and on, one for each
/// page that is open. '~' is in no name of a device or program.
inline constexpr int kDashboardSeats = 16;

/// Where the page reaches that listener: one that is bound to every address has the broker's name.
[[nodiscard]] std::string dashboard_listener_host(const FleetSettings& settings);

/// Lines of mosquitto.conf; for a fleet that has a dashboard port.
[[nodiscard]] std::string dashboard_listener(const FleetSettings& settings, const FleetFolder& folder);

/// Who may do what at that listener: all the same, whatever the user's name.
[[nodiscard]] std::string dashboard_access_list(const FleetSettings& settings);

/// Brings the key (kept, or made when there is none), the broker's password file and its access list up to
/// date; nothing for a fleet without a dashboard port. The broker has not read them yet.
[[nodiscard]] Status write_dashboard_access(const FleetSettings& settings, const FleetFolder& folder,
                                            CertificateAuthority& authority);

/// A new key; pages with the old one are refused when they connect again, once the broker has read its files.
[[nodiscard]] Status renew_dashboard_key(const FleetSettings& settings, const FleetFolder& folder,
                                         CertificateAuthority& authority);

/// kNotFound, with what to do, when the fleet has no dashboard.
[[nodiscard]] Result<std::string> read_dashboard_key(const FleetSettings& settings,
                                                     const FleetFolder& folder);

}  // namespace aflguard::fleet
