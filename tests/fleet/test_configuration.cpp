#include "core/base/atomic_file.h"
#include "fleet/configuration.h"
#include "gateway_server/gateway_settings.h"
#include "tests/support/test.h"

using namespace aflguard;

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
