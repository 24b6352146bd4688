// What a running gateway tells about itself and its devices, over a real broker.
#include <csignal>

#include "core/transport/topics.h"
#include "tests/gateway_server/live_fleet.h"

using namespace aflguard;
using namespace aflguard::testing;
using nlohmann::json;

namespace {

FleetTopics topics() {
  return FleetTopics::create("orchard").value();
}

void say_status(HandDevice& device, const std::string& state) {
  const std::string text =
      R"({"schema":"aflguard-device-status-1","state":")" + state + R"(","device":")" + device.name() + "\"}";
  const auto bytes = std::as_bytes(std::span(text));
  const Message message{topics().device_status(device.name()), Bytes(bytes.begin(), bytes.end()), true};
  const auto deadline = std::chrono::steady_clock::now() + kLong;
  while (!device.bus().publish(message).ok()) {
    TEST_ASSERT_TRUE(std::chrono::steady_clock::now() < deadline);
    (void)device.bus().next_event(std::chrono::steady_clock::now() + std::chrono::milliseconds(20));
  }
}

LiveFleet::Wanted field_is(const std::string& field, const json& value) {
  return [=](const std::string& text) { return json::parse(text).at(field) == value; };
}

}  // namespace

TEST("Metrics tell how many devices are connected, by their own words and their last wills") {
  LiveFleet fleet;
  for (const char* name : {"pi-1", "pi-2", "pi-3"}) fleet.enrol(name);
  HandDevice early(fleet, "pi-1");
  say_status(early, "training");  // before the gateway is there: the broker keeps it
  fleet.start_gateway();
  HandDevice second(fleet, "pi-2");
  say_status(second, "ready");
  const json metrics = json::parse(fleet.wait_for_metrics(field_is("devices_connected", 2)));
  TEST_ASSERT_EQUAL_INT(3, metrics.at("devices").get<int>());
  TEST_ASSERT_TRUE(metrics.at("store_free_bytes").get<std::uint64_t>() <=
                   metrics.at("store_total_bytes").get<std::uint64_t>());
  say_status(second, "lost");
  (void)fleet.wait_for_metrics(field_is("devices_connected", 1));
  // Who is not in the book any more does not count, whatever is said on its topic.
  fleet.revoke("pi-1");
  (void)fleet.wait_for_metrics(field_is("devices_connected", 0));
  say_status(early, "ready");
  say_status(second, "ready");
  (void)fleet.wait_for_metrics(field_is("devices_connected", 1));
}

TEST("Delays are counted in classes, and the reference's age is told") {
  LiveFleet fleet({.guard = "aflguard", .learning_rate = 0.01});
  fleet.enrol("pi-1");
  fleet.start_gateway();
  HandDevice device(fleet, "pi-1");
  TEST_ASSERT_TRUE(device.insist(device.update(1, 0, 0)).accepted);
  TEST_ASSERT_TRUE(device.insist(device.update(2, 0, 0)).accepted);
  const json metrics = json::parse(fleet.wait_for_metrics(field_is("updates", 2)));
  TEST_ASSERT_EQUAL_INT(1, metrics.at("delay_histogram").at("counts").at(0).get<int>());
  TEST_ASSERT_EQUAL_INT(1, metrics.at("delay_histogram").at("counts").at(1).get<int>());
  TEST_ASSERT_EQUAL_DOUBLE(0.5, metrics.at("mean_delay").get<double>());
  TEST_ASSERT_EQUAL_INT(0, metrics.at("reference_version").get<int>());
  TEST_ASSERT_EQUAL_INT(2, metrics.at("reference_age").get<int>());
  TEST_ASSERT_TRUE(metrics.at("reference_age_seconds").get<double>() >= 0);
}

TEST("The gateway's status is ready, disconnected when it was stopped, and lost when it was killed") {
  LiveFleet fleet;
  fleet.start_gateway();
  fleet.wait_for_state("ready");
  fleet.end_gateway(SIGTERM);
  fleet.wait_for_state("disconnected");
  fleet.start_gateway();
  fleet.wait_for_state("ready");
  fleet.end_gateway(SIGKILL);
  fleet.wait_for_state("lost");
  const json will = json::parse(fleet.wait_for_json(topics().gateway_status(), field_is("state", "lost")));
  TEST_ASSERT_EQUAL_STRING("orchard", will.at("fleet").get<std::string>().c_str());
  TEST_ASSERT_EQUAL_STRING("asyncsgd", will.at("guard").get<std::string>().c_str());
}
