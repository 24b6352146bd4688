#include "core/system/atomic_file.h"
#include "fleet/folder/configuration.h"
#include "fleet/provisioning/broker_files.h"
#include "gateway_server/settings/gateway_settings.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::fleet;
using namespace aflguard::gateway;

namespace {

FleetSettings orchard() {
  FleetSettings settings;
  settings.name = "orchard";
  settings.broker_host = "broker.example.org";
  settings.broker_port = 1234;
  return settings;
}

}  // namespace

TEST("The gateway reads the configuration that provisioning writes") {
  const testing::TemporaryFolder folder;
  ASSERT_OK(write_file_atomically(folder / "gateway.toml", gateway_configuration(orchard())));
  const auto settings = read_gateway_settings(folder / "gateway.toml");
  ASSERT_OK(settings);
  TEST_ASSERT_EQUAL_STRING("orchard", settings->fleet.c_str());
  TEST_ASSERT_EQUAL_STRING("broker.example.org", settings->broker.host.c_str());
  TEST_ASSERT_EQUAL_INT(1234, settings->broker.port);
  TEST_ASSERT_EQUAL_STRING("aflguard", settings->guard.name.c_str());
  TEST_ASSERT_TRUE(settings->identity.key == folder / "gateway.key");
}

TEST("The gateway may tell Home Assistant of sensors only while there is a viewer of that name") {
  ViewerBook viewers;
  viewers.viewers.push_back({.name = "anna", .certificates = {}});
  const std::string without = broker_access_list(orchard(), {}, viewers);
  TEST_ASSERT_TRUE(without.find("homeassistant") == std::string::npos);
  viewers.viewers.push_back({.name = "home-assistant", .certificates = {}});
  const std::string with = broker_access_list(orchard(), {}, viewers);
  const auto gateway = with.find("user gateway");
  const auto sensors = with.find("topic write homeassistant/sensor/+/+/config\n");
  TEST_ASSERT_TRUE(gateway < sensors && sensors < with.find("pattern ", gateway));
  const auto home = with.find("user home-assistant\n");
  TEST_ASSERT_TRUE(with.find("topic read homeassistant/#\n") > home);
  TEST_ASSERT_TRUE(with.find("topic write homeassistant/status\n") > home);
  viewers.viewers.back().revoked = true;
  TEST_ASSERT_TRUE(broker_access_list(orchard(), {}, viewers).find("homeassistant/") == std::string::npos);
}
