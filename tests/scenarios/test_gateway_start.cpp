#include <csignal>
#include <thread>

#include "core/system/atomic_file.h"
#include "tests/scenarios/live_fleet.h"
#include "tests/support/background_process.h"
#include "tests/support/wait_until.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

void use_identity(LiveFleet& fleet, const CertificateFiles& files) {
  const CertificateFiles& own = fleet.files("gateway");
  fleet.change_config(own.certificate.string(), files.certificate.string());
  fleet.change_config(own.key.string(), files.key.string());
}

}  // namespace

TEST("The store of another fleet is refused, and so is a second gateway on one store") {
  LiveFleet fleet;
  fleet.enrol("pi-1");
  fleet.start_gateway();
  HandDevice device(fleet, "pi-1");
  TEST_ASSERT_TRUE(device.insist(device.update(1, 0, 1)).accepted);
  BackgroundProcess second({fleet.gateway_program(), "--config", fleet.config().string()}, fleet.path(),
                           fleet.path() / "second.log");
  wait_until("the second gateway ends", [&] { return !second.running(); });
  TEST_ASSERT_EQUAL_INT(1, second.exit_code());
  ASSERT_CONTAINS(read_text_file(fleet.path() / "second.log").value(), "another gateway uses this store");
  TEST_ASSERT_TRUE(device.insist(device.update(2, 0, 1)).accepted);
  fleet.end_gateway(SIGTERM);
  fleet.change_config("name = \"orchard\"", "name = \"vineyard\"");
  fleet.launch_gateway();
  TEST_ASSERT_EQUAL_INT(1, fleet.wait_for_gateway_end());
  ASSERT_CONTAINS(fleet.gateway_log(), "belongs to fleet 'orchard', the configuration says 'vineyard'");
  TEST_ASSERT_EQUAL_UINT64(2, fleet.history().size());
}

TEST("Without a broker the gateway keeps trying, and works as soon as there is one") {
  LiveFleet fleet;
  fleet.enrol("pi-1");
  fleet.broker().end(SIGKILL);
  fleet.launch_gateway();
  fleet.wait_for_log("disconnected from ssl://localhost", 4);
  TEST_ASSERT_TRUE(fleet.gateway_runs());
  fleet.broker().start();
  fleet.wait_for_log("ready: connected");
  HandDevice device(fleet, "pi-1");
  TEST_ASSERT_TRUE(device.insist(device.update(1, 0, 1)).accepted);
}

TEST("A gateway that is told to stop before it ever found its broker stops") {
  LiveFleet fleet;
  fleet.broker().end(SIGKILL);
  fleet.launch_gateway();
  fleet.wait_for_log("disconnected from ssl://localhost", 1);
  TEST_ASSERT_EQUAL_INT(0, fleet.end_gateway(SIGTERM));
}

TEST("A gateway whose certificate has ended says so") {
  LiveFleet fleet;
  use_identity(fleet, fleet.authority().issue("gateway", CertificateUse::kClient, {}, -60));
  fleet.launch_gateway();
  fleet.wait_for_log("expired");
}

TEST("A gateway whose certificate is of another authority says so") {
  LiveFleet fleet;
  TestAuthority stranger(fleet.path(), "stranger");
  use_identity(fleet, stranger.issue("gateway", CertificateUse::kClient));
  fleet.launch_gateway();
  fleet.wait_for_log("unknown CA");
}

TEST("A gateway whose certificate was revoked says so") {
  LiveFleet fleet;
  fleet.authority().write_revocations({fleet.files("gateway")});
  fleet.broker().end(SIGKILL);
  fleet.broker().start();
  fleet.launch_gateway();
  fleet.wait_for_log("revoked");
}

TEST("A gateway that finds a broker of another authority says so") {
  LiveFleet fleet;
  TestAuthority stranger(fleet.path(), "stranger");
  fleet.change_config(fleet.authority().certificate().string(), stranger.certificate().string());
  fleet.launch_gateway();
  fleet.wait_for_log("the broker's certificate is refused");
}
