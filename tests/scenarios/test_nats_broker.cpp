#include <csignal>
#include <cstdlib>

#include "tests/gateway_server/judging/fake_parts.h"
#include "tests/scenarios/live_fleet.h"
#include "tests/scenarios/nats_cluster.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

/// The access list of the fleet, in NATS's words. MQTT's own subjects are those that NATS needs for QoS 1.
constexpr const char* kUsers = R"(
authorization { users: [
  { user: "CN=gateway", permissions: {
      publish: ["aflguard.v1.orchard.>", "$MQTT.>", "$JS.>"],
      subscribe: ["aflguard.v1.orchard.up.>", "$MQTT.>", "_INBOX.>"] } },
  { user: "CN=watcher", permissions: {
      publish: ["$MQTT.>", "$JS.>"], subscribe: ["aflguard.v1.orchard.>", "$MQTT.>", "_INBOX.>"] } },
  { user: "CN=pi-1", permissions: {
      publish: ["aflguard.v1.orchard.up.pi-1.>", "$MQTT.>", "$JS.>"],
      subscribe: ["aflguard.v1.orchard.down.pi-1.>", "aflguard.v1.orchard.model", "$MQTT.>", "_INBOX.>"] } },
] }
)";

}  // namespace

// Three servers elect leaders for everything that they keep, which takes a busy machine a minute and more:
// ./run check nats has the time, ./run test has not.
TEST("A cluster of NATS servers carries the fleet over MQTT 3.1.1, also after one of them was killed") {
  if (std::getenv("AFLGUARD_NATS") == nullptr) TEST_IGNORE_MESSAGE("./run check nats runs this");
  if (!NatsCluster::installed()) TEST_IGNORE_MESSAGE("nats-server is not installed");
  LiveFleetOptions options;
  options.features = 40'000;  // an update of 160 KB, five pieces
  options.learning_rate = 1e-6;
  LiveFleet fleet(options);
  fleet.enrol("pi-1");
  fleet.broker().end(SIGKILL);  // the fleet connects to whatever listens on its port
  NatsCluster cluster(fleet.path(), fleet.authority(), fleet.broker().port(), kUsers);
  fleet.set_timeout(std::chrono::seconds(240));
  fleet.start_gateway();
  ASSERT_CONTAINS(fleet.gateway_log(), "over MQTT 3.1.1");
  HandDevice device(fleet, "pi-1");
  std::uint64_t version = 0;
  for (std::uint64_t sequence = 1; sequence <= 5; ++sequence) {
    const VerdictMessage verdict = device.insist(device.update(sequence, version, 1));
    TEST_ASSERT_TRUE(verdict.accepted);
    version = verdict.version;
  }
  fleet.wait_for_state("ready");  // retained: kept by the cluster
  cluster.end(2, SIGKILL);
  for (std::uint64_t sequence = 6; sequence <= 10; ++sequence) {
    const VerdictMessage verdict = device.insist(device.update(sequence, version, 1));
    TEST_ASSERT_TRUE(verdict.accepted);
    version = verdict.version;
  }
  TEST_ASSERT_EQUAL_UINT64(10, version);
  TEST_ASSERT_EQUAL_INT(0, fleet.end_gateway(SIGTERM));
  TEST_ASSERT_EQUAL_UINT64(10, fleet.history().size());
}

TEST("What a broker's access list does not know and the bus can do without does not stop it") {
  if (std::getenv("AFLGUARD_NATS") == nullptr) TEST_IGNORE_MESSAGE("./run check nats runs this");
  if (!NatsCluster::installed()) TEST_IGNORE_MESSAGE("nats-server is not installed");
  LiveFleet fleet;
  fleet.enrol("pi-1");
  fleet.broker().end(SIGKILL);
  NatsCluster cluster(fleet.path(), fleet.authority(), fleet.broker().port(), kUsers);
  KeptLog log;
  auto bus = MqttBus::create(fleet.bus_options("gateway"), log).value();
  ASSERT_OK(bus->subscribe_if_allowed("aflguard/v1/orchard/ask/+/history"));
  ASSERT_OK(bus->subscribe("aflguard/v1/orchard/up/+/update"));
  ASSERT_OK(bus->start());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(240);
  bool connected = false;
  while (!connected) {
    const auto event = bus->next_event(deadline);
    TEST_ASSERT_TRUE_MESSAGE(event.has_value(), log.text().c_str());
    connected = std::holds_alternative<BusConnected>(*event);
  }
  ASSERT_CONTAINS(log.text(), "refuses the subscription to aflguard/v1/orchard/ask/+/history");
  HandDevice device(fleet, "pi-1");
  device.publish(Bytes(100));
  while (true) {
    const auto event = bus->next_event(deadline);
    TEST_ASSERT_TRUE_MESSAGE(event.has_value(), "the needed subscription brings nothing");
    if (std::holds_alternative<BusReceived>(*event)) break;
  }
}
