#include "fleet/folder/configuration.h"

#include "fleet/folder/example_files.h"
#include "fleet/folder/toml_template.h"

namespace aflguard::fleet {

const char* gateway_example() {
  return kGatewayExample;
}

const char* client_example() {
  return kClientExample;
}

std::string gateway_configuration(const FleetSettings& settings) {
  return TomlTemplate(gateway_example())
      .set("fleet", "name", toml_text(settings.name))
      .set("broker", "host", toml_text(settings.broker_host))
      .set("broker", "port", std::to_string(settings.broker_port))
      .set("identity", "certificate", toml_text("gateway.crt"))
      .set("identity", "key", toml_text("gateway.key"))
      .set("identity", "ca", toml_text("ca.crt"))
      .set("identity", "release", toml_text("release.pem"))
      .set("devices", "book", toml_text("../devices.db"))
      .set("model", "package", toml_text("../model"))
      .set("store", "file", toml_text("state/gateway.db"))
      .text();
}

std::string client_configuration(const FleetSettings& settings, const std::string& device) {
  return TomlTemplate(client_example())
      .set("fleet", "name", toml_text(settings.name))
      .set("fleet", "device", toml_text(device))
      .set("broker", "host", toml_text(settings.broker_host))
      .set("broker", "port", std::to_string(settings.broker_port))
      .set("identity", "certificate", toml_text("device.crt"))
      .set("identity", "key", toml_text("device.key"))
      .set("identity", "ca", toml_text("ca.crt"))
      .set("identity", "gateway", toml_text("gateway.pem"))
      .set("identity", "release", toml_text("release.pem"))
      .set("model", "package", toml_text("model"))
      .set("state", "folder", toml_text("/var/lib/aflguard/state"))
      .text();
}

}  // namespace aflguard::fleet
