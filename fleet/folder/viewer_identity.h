#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/result.h"
#include "fleet/folder/fleet_folder.h"
#include "fleet/folder/fleet_settings.h"

namespace aflguard::fleet {

/// Everything that one viewer needs to watch a fleet: where the broker is, and the files of its identity.
struct ViewerIdentity {
  std::string fleet;
  std::string name;
  std::string host;
  std::uint16_t port = 0;
  std::filesystem::path folder;

  [[nodiscard]] std::filesystem::path authority() const { return folder / "ca.crt"; }
  [[nodiscard]] std::filesystem::path certificate() const { return folder / (name + ".crt"); }
  [[nodiscard]] std::filesystem::path key() const { return folder / (name + ".key"); }

  friend bool operator==(const ViewerIdentity&, const ViewerIdentity&) = default;
};

/// The identity of a viewer whose files are in the fleet's folder.
[[nodiscard]] ViewerIdentity viewer_identity(const FleetSettings& settings, const FleetFolder& folder,
                                             const std::string& name);

/// The text of viewer.toml, which lets a viewer's folder work on another machine.
[[nodiscard]] std::string viewer_configuration(const FleetSettings& settings, const std::string& name);

/// The identity in a folder that holds a viewer.toml. kNotFound when there is none; kInvalidInput with file
/// and line for everything else.
[[nodiscard]] Result<ViewerIdentity> read_viewer_folder(const std::filesystem::path& folder);

}  // namespace aflguard::fleet
