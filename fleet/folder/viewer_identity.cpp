#include "fleet/folder/viewer_identity.h"

#include "core/base/identifier.h"
#include "core/config/config_file.h"
#include "fleet/folder/toml_template.h"

namespace aflguard::fleet {

ViewerIdentity viewer_identity(const FleetSettings& settings, const FleetFolder& folder,
                               const std::string& name) {
  return {.fleet = settings.name,
          .name = name,
          .host = settings.broker_host,
          .port = settings.broker_port,
          .folder = folder.viewer(name)};
}

std::string viewer_configuration(const FleetSettings& settings, const std::string& name) {
  return "# Whom this identity may watch, and where: aflguard monitor --viewer FOLDER-OF-THIS-FILE\n"
         "# Made from fleet.toml by `aflguard fleet ...`.\n\n"
         "[fleet]\nname = " +
         toml_text(settings.name) + "\nviewer = " + toml_text(name) +
         "\n\n[broker]\nhost = " + toml_text(settings.broker_host) +
         "\nport = " + std::to_string(settings.broker_port) + "\n";
}

Result<ViewerIdentity> read_viewer_folder(const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::exists(folder / "viewer.toml", error)) {
    return not_found(folder.string() +
                     " is not a viewer folder (it has no viewer.toml); aflguard fleet viewer add makes one");
  }
  TRY(auto file, ConfigFile::read(folder / "viewer.toml"));
  ViewerIdentity identity;
  identity.folder = folder;
  auto fleet = file.table("fleet");
  identity.fleet = fleet.text("name");
  identity.name = fleet.text("viewer");
  auto broker = file.table("broker");
  identity.host = broker.text("host");
  identity.port = static_cast<std::uint16_t>(broker.integer("port", 1, 65535));
  TRY_STATUS(file.finish());
  for (const auto& [what, name] : {std::pair("fleet", identity.fleet), std::pair("viewer", identity.name)}) {
    if (const Status valid = check_identifier(what, name); !valid.ok()) {
      return at((folder / "viewer.toml").string(), valid.error());
    }
  }
  return identity;
}

}  // namespace aflguard::fleet
