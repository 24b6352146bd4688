#pragma once

#include <string>

#include "core/base/clock.h"
#include "fleet/doctor/finding.h"
#include "fleet/folder/fleet_folder.h"
#include "fleet/folder/fleet_settings.h"
#include "fleet/view/fleet_watch.h"

namespace aflguard::fleet {

/// What `aflguard doctor` looks at.
struct DoctorRequest {
  std::string fleet;   ///< a fleet's folder; empty: this machine has no part in one
  std::string client;  ///< a board's client.toml; empty: none
};

/// Looks at the machine, and at what the request names. `connect` reaches the fleet's broker as a viewer.
[[nodiscard]] Findings examine(const DoctorRequest& request, const Clock& clock,
                               const view::BusFactory& connect);

/// The parts of it. Each looks and says what it found; none changes anything.

/// Programs, ONNX Runtime, clock, disk. `with_fleet`: this machine runs a broker and a gateway.
void examine_machine(Findings& findings, const Clock& clock, bool with_fleet);

/// A fleet's files: settings, permissions, certificates, lists, the broker's configuration. False when the
/// folder is not a fleet's.
[[nodiscard]] bool examine_files(Findings& findings, const FleetFolder& folder, const Clock& clock);

/// The running broker: reachable, this fleet's, refuses strangers, enforces its access list.
/// False when there is no broker to talk to.
[[nodiscard]] bool examine_broker(Findings& findings, const FleetFolder& folder,
                                  const FleetSettings& settings);

/// The running gateway, by what it publishes.
void examine_gateway(Findings& findings, const FleetFolder& folder, const Clock& clock,
                     const view::BusFactory& connect);

/// A board's client configuration and everything that it names.
void examine_client(Findings& findings, const std::string& configuration, const Clock& clock);

/// One certificate file with its key, by their contents and rights.
struct IdentityFiles {
  std::filesystem::path certificate;
  std::filesystem::path key;  ///< empty: not looked at
  std::filesystem::path authority;
};
void examine_identity(Findings& findings, const std::string& check, const IdentityFiles& files,
                      const Clock& clock, const std::string& how_to_renew);

/// Free space where `path` is.
void examine_disk(Findings& findings, const std::string& check, const std::filesystem::path& path);
/// The same for a place of which only the figures are known: "free where `what_is_there`".
void examine_space(Findings& findings, const std::string& check, double free_bytes, double total_bytes,
                   const std::string& what_is_there);

}  // namespace aflguard::fleet
