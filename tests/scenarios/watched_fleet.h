#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/rfc3339.h"
#include "core/system/child_process.h"
#include "tests/support/test_fleet.h"

namespace aflguard::testing {

/// A fleet with a real broker, and a test that publishes as its gateway and its devices.
struct WatchedFleet : TestFleet {
  using Json = nlohmann::json;

  std::unique_ptr<RawMqttClient> played_gateway;

  WatchedFleet() {
    if (!have_mosquitto()) TEST_IGNORE_MESSAGE("Mosquitto is not installed");
    for (const char* name : {"pi-1", "pi-2", "pi-9"}) add(name);
    release();  // to `aflguard`
    start();
  }

  void start() {
    start_broker();
    played_gateway = connect(gateway(), "gateway");
    TEST_ASSERT_TRUE(played_gateway->accepted());
  }

  [[nodiscard]] static std::string program() { return testing::program("aflguard"); }
  [[nodiscard]] ProgramOutcome run(const std::string& arguments, bool only_results = false) const {
    auto outcome = run_program({"env", "AFLGUARD_FLEET=fleet", "sh", "-c",
                                "'" + program() + "' " + arguments + (only_results ? " 2>/dev/null" : "")},
                               temporary.path());
    ASSERT_OK(outcome);
    return *outcome;
  }
  std::string expect(int code, const std::string& arguments) const {
    const ProgramOutcome outcome = run(arguments);
    TEST_ASSERT_EQUAL_INT_MESSAGE(code, outcome.exit_code, (arguments + ": " + outcome.output).c_str());
    return outcome.output;
  }

  static std::string now() { return to_rfc3339(std::chrono::system_clock::now()); }
  void publish(const std::string& topic, const Json& message, bool retain = true) const {
    TEST_ASSERT_TRUE(played_gateway->publish("aflguard/v1/f/" + topic, message.dump(), retain));
  }
  void publish_status(const std::string& device, const std::string& state) const {
    const auto client = connect(TestFleet::device(device), device);
    TEST_ASSERT_TRUE(client->publish("aflguard/v1/f/up/" + device + "/status",
                                     Json{{"schema", "aflguard-device-status-1"},
                                          {"state", state},
                                          {"device", device},
                                          {"time", now()},
                                          {"version", 812},
                                          {"loss", 0.31}}
                                         .dump(),
                                     true));
  }
  /// `more` replaces what would be said otherwise.
  void publish_metrics(std::uint64_t version = 1234, const Json& more = Json::object()) const {
    Json metrics = {{"schema", "aflguard-gateway-metrics-1"},
                    {"time", now()},
                    {"version", version},
                    {"accepted", 1159},
                    {"rejected", 341},
                    {"rejected_by", {{"too-far", 341}}},
                    {"updates_per_second", 11.0},
                    {"reference_age_seconds", 2.0},
                    {"test_error", 0.0546}};
    metrics.update(more);
    publish("gateway/metrics", metrics);
  }
  void publish_summary(const std::string& device, int accepted, int rejected, double share,
                       double ratio) const {
    publish("gateway/devices/" + device, {{"schema", "aflguard-device-summary-1"},
                                          {"device", device},
                                          {"time", now()},
                                          {"state", "training"},
                                          {"accepted", accepted},
                                          {"rejected", rejected},
                                          {"recent_rejected_share", share},
                                          {"distance_ratio", ratio},
                                          {"last_seen", now()}});
  }
  void publish_event(const std::string& kind, const std::string& device, const std::string& text) const {
    publish(
        "events",
        {{"schema", "aflguard-event-1"}, {"time", now()}, {"kind", kind}, {"device", device}, {"text", text}},
        false);
  }
  /// pi-1 is honest, pi-9 lies, pi-2 is lost.
  void publish_all() const {
    publish("gateway/status", {{"schema", "aflguard-gateway-status-1"},
                               {"state", "ready"},
                               {"fleet", "f"},
                               {"guard", "aflguard"},
                               {"message", ""}});
    publish_metrics();
    publish_summary("pi-1", 90, 6, 0.05, 0.65);
    publish_summary("pi-9", 2, 300, 0.97, 12.5);
    publish_status("pi-1", "training");
    publish_status("pi-2", "lost");
    publish_status("pi-9", "ready");
  }
};

}  // namespace aflguard::testing
