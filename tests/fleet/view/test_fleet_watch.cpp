// Watching over a broker of the test's own, in one thread: no MQTT library is involved.
#include "core/transport/in_process_broker.h"
#include "fleet/view/fleet_watch.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::view;

namespace {

constexpr const char* kMetrics =
    R"({"schema":"aflguard-gateway-metrics-1","time":"2026-03-01T12:00:00Z","version":7,"refused":{"malformed":3}})";

struct Watched {
  InProcessBroker broker{1};
  std::unique_ptr<MessageBus> gateway = broker.client("gateway");
  std::unique_ptr<FleetWatch> watch;
  std::size_t connections = 0;

  Watched() {
    ASSERT_OK(gateway->start());
    fleet::ViewerIdentity identity;
    identity.fleet = "f";
    identity.name = "anna";
    auto started = FleetWatch::start(
        identity,
        [this](const fleet::ViewerIdentity& viewer, LogSink&) -> Result<std::unique_ptr<MessageBus>> {
          ++connections;
          return broker.client(viewer.name + std::to_string(connections));
        });
    ASSERT_OK(started);
    watch = std::move(*started);
  }
  void publish(const std::string& topic, const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    ASSERT_OK(gateway->publish({"aflguard/v1/f/" + topic, Bytes(bytes.begin(), bytes.end()), true}));
  }
  void pass() {
    broker.settle();
    watch->listen({});
  }
};

}  // namespace

TEST("What the gateway publishes comes into the picture, over whatever bus was given") {
  Watched watched;
  watched.pass();
  TEST_ASSERT_TRUE(watched.watch->connected());
  watched.publish("gateway/metrics", kMetrics);
  watched.pass();
  const ReasonCounts& refused = watched.watch->picture().gateway().metrics.refused;
  TEST_ASSERT_EQUAL_size_t(1, refused.size());
  TEST_ASSERT_EQUAL_STRING("malformed", refused[0].first.c_str());
  TEST_ASSERT_EQUAL_UINT64(3, refused[0].second);
}

TEST("Three connections in a minute that end at once mean a second viewer with the same identity") {
  Watched watched;
  watched.pass();
  for (int i = 0; i < 3; ++i) {
    TEST_ASSERT_FALSE(watched.watch->taken_over());
    watched.broker.cut("anna1");
    watched.pass();
    watched.broker.restore("anna1");
    watched.pass();
  }
  TEST_ASSERT_TRUE(watched.watch->taken_over());
  ASSERT_OK(watched.watch->take_back());
  TEST_ASSERT_EQUAL_size_t(2, watched.connections);
  watched.pass();
  TEST_ASSERT_TRUE(watched.watch->connected());
  TEST_ASSERT_FALSE(watched.watch->taken_over());
}

TEST("A bus that cannot be made is said") {
  fleet::ViewerIdentity identity;
  identity.fleet = "f";
  identity.name = "anna";
  const auto watch = FleetWatch::start(
      identity, [](const fleet::ViewerIdentity&, LogSink&) -> Result<std::unique_ptr<MessageBus>> {
        return not_found("anna.key is missing");
      });
  ASSERT_CONTAINS(testing::message_of(watch), "anna.key is missing");
}
