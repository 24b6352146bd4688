// What a running gateway tells about itself and its devices, over a real broker.
#include <algorithm>
#include <arpa/inet.h>
#include <csignal>
#include <cstdlib>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/system/atomic_file.h"
#include "core/transport/topics.h"
#include "tests/scenarios/live_fleet.h"

using namespace aflguard;
using namespace aflguard::gateway;
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

/// Someone who listens to one topic, from now on.
class Listener final {
 public:
  Listener(LiveFleet& fleet, const std::string& name, const std::string& filter) {
    const CertificateFiles own = fleet.authority().issue(name, CertificateUse::kClient);
    client_.emplace(fleet.broker().port(),
                    MqttIdentity{own.certificate, own.key, fleet.authority().certificate()}, name);
    client_->subscribe(filter);
  }
  /// The next message for which `wanted` holds; fails the test when none comes.
  [[nodiscard]] json next(const std::function<bool(const json&)>& wanted) {
    return json::parse(next_raw([&](const RawMessage& message) {
                         return !message.payload.empty() && wanted(json::parse(message.payload));
                       }).payload);
  }
  [[nodiscard]] RawMessage next_raw(const std::function<bool(const RawMessage&)>& wanted) {
    const auto deadline = std::chrono::steady_clock::now() + kLong;
    while (std::chrono::steady_clock::now() < deadline) {
      auto message = client_->receive();
      if (!message) continue;
      TEST_ASSERT_TRUE_MESSAGE(message->payload.size() < 4096, message->payload.c_str());
      if (wanted(*message)) return std::move(*message);
    }
    TEST_FAIL_MESSAGE("what was waited for did not come");
    return {};
  }
  void publish(const std::string& topic, const std::string& text) {
    TEST_ASSERT_TRUE(client_->publish(topic, text));
  }
  [[nodiscard]] json next_event(const std::string& kind) {
    return next([&](const json& event) { return event.at("kind") == kind; });
  }

 private:
  std::optional<RawMqttClient> client_;
};

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

TEST("Each device has a summary of its verdicts, which goes when it leaves the book") {
  LiveFleet fleet({.guard = "aflguard", .learning_rate = 0.01});
  fleet.enrol("pi-1");
  fleet.enrol("pi-2");
  fleet.start_gateway();
  HandDevice device(fleet, "pi-1");
  say_status(device, "training");
  TEST_ASSERT_TRUE(device.insist(device.update(1, 0, 0)).accepted);
  const VerdictMessage far = device.insist(device.update(2, 0, 1000));
  TEST_ASSERT_FALSE(far.accepted);
  device.send(Bytes(10));  // no envelope
  const std::string topic = topics().device_summary("pi-1");
  const json told = json::parse(fleet.wait_for_json(topic, [](const std::string& text) {
    const json summary = json::parse(text);
    return summary.at("rejected") == 1 && summary.at("refused") == 1;
  }));
  TEST_ASSERT_EQUAL_STRING("aflguard-device-summary-1", told.at("schema").get<std::string>().c_str());
  TEST_ASSERT_EQUAL_STRING("training", told.at("state").get<std::string>().c_str());
  TEST_ASSERT_EQUAL_INT(1, told.at("accepted").get<int>());
  TEST_ASSERT_TRUE(told.at("recent_rejected_share").is_null());  // two verdicts say nothing
  TEST_ASSERT_EQUAL_size_t(2, told.at("recent").size());
  TEST_ASSERT_EQUAL_STRING("too-far", told.at("last").at("reason").get<std::string>().c_str());
  TEST_ASSERT_DOUBLE_WITHIN(1e-4 * far.distance, far.distance, told.at("last").at("distance").get<double>());
  TEST_ASSERT_TRUE(told.at("distance_ratio").get<double>() > 1);

  // A new gateway knows what the store knows, and takes back the devices that have left meanwhile.
  fleet.end_gateway(SIGKILL);
  fleet.start_gateway();
  (void)fleet.wait_for_json(topic, [](const std::string& text) {
    const json summary = json::parse(text);
    return summary.at("rejected") == 1 && summary.at("refused") == 0;
  });
  const std::string all = "aflguard/v1/orchard/gateway/devices/+";
  HandDevice other(fleet, "pi-2");
  (void)other.insist(other.update(1, 0, 0));
  Listener watching(fleet, "watching", all);
  (void)watching.next([](const json& summary) { return summary.at("device") == "pi-2"; });
  fleet.revoke("pi-1");
  (void)watching.next_raw(
      [&](const RawMessage& message) { return message.topic == topic && message.payload.empty(); });
  Listener late(fleet, "late", all);
  (void)late.next([](const json& summary) {
    TEST_ASSERT_EQUAL_STRING("pi-2", summary.at("device").get<std::string>().c_str());
    return true;
  });
}

TEST("Events tell what happens to devices and to the gateway") {
  LiveFleet fleet({.guard = "aflguard", .learning_rate = 0.01});
  fleet.enrol("pi-1");
  Listener events(fleet, "listener", topics().events());
  fleet.start_gateway();
  (void)events.next_event("started");
  HandDevice device(fleet, "pi-1");
  say_status(device, "ready");
  TEST_ASSERT_EQUAL_STRING("pi-1", events.next_event("joined").at("device").get<std::string>().c_str());
  (void)device.insist(device.update(1, 0, 1000));
  const json rejected = events.next_event("rejected");
  TEST_ASSERT_EQUAL_STRING("pi-1", rejected.at("device").get<std::string>().c_str());
  ASSERT_CONTAINS(rejected.at("text").get<std::string>(), "too-far");
  device.send(Bytes(10));
  const json refused = events.next_event("refused");
  TEST_ASSERT_EQUAL_STRING("pi-1", refused.at("device").get<std::string>().c_str());
  ASSERT_CONTAINS(refused.at("text").get<std::string>(), "malformed");
  say_status(device, "lost");
  (void)events.next_event("lost");
  say_status(device, "ready");
  (void)events.next_event("returned");
  say_status(device, "disconnected");
  (void)events.next_event("left");
  fleet.end_gateway(SIGTERM);
  TEST_ASSERT_FALSE(events.next_event("stopping").contains("device"));
}

TEST("History outlives the gateway, and is told to who asks over the broker") {
  LiveFleet fleet;
  fleet.enrol("pi-1");
  fleet.start_gateway();
  HandDevice device(fleet, "pi-1");
  for (std::uint64_t i = 1; i <= 3; ++i) (void)device.insist(device.update(i, 0, 0));
  fleet.end_gateway(SIGTERM);
  fleet.start_gateway();
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  Listener viewer(fleet, "viewer", "aflguard/v1/orchard/tell/viewer/history");
  for (const char* series : {"fleet", "device"}) {
    const json question = {{"schema", "aflguard-history-question-1"},
                           {"id", series},
                           {"series", series},
                           {"device", "pi-1"},
                           {"from_ms", now - 3'600'000},
                           {"to_ms", now + 3'600'000},
                           {"points", 500}};
    viewer.publish("aflguard/v1/orchard/ask/viewer/history", question.dump());
    const json answer = viewer.next([&](const json& told) { return told.at("id") == series; });
    TEST_ASSERT_TRUE_MESSAGE(answer.value("last", false) && answer.contains("points"), answer.dump().c_str());
    const auto fields = answer.at("fields").get<std::vector<std::string>>();
    const auto at = std::find(fields.begin(), fields.end(), "accepted") - fields.begin();
    std::uint64_t accepted = 0;
    for (const json& point : answer.at("points")) {
      accepted += point[static_cast<std::size_t>(at)].get<std::uint64_t>();
    }
    TEST_ASSERT_EQUAL_UINT64(3, accepted);
  }
}

namespace {

/// The port in the gateway's log.
std::string metrics_port(LiveFleet& fleet) {
  fleet.wait_for_log("metrics on port ");
  const std::string log = fleet.gateway_log();
  const auto at = log.rfind("metrics on port ") + 16;
  return log.substr(at, log.find(',', at) - at);
}

/// A whole answer by HTTP, head and body.
std::string http_get(const std::string& port, const std::string& path) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
  std::string all;
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    (void)!::send(socket, request.data(), request.size(), MSG_NOSIGNAL);
    char bytes[4096];
    for (ssize_t count = 0; (count = ::recv(socket, bytes, sizeof bytes, 0)) > 0;) {
      all.append(bytes, static_cast<std::size_t>(count));
    }
  }
  ::close(socket);
  return all;
}

/// Asks again until the answer holds `text`.
void wait_for_http(const std::string& port, const std::string& path, const std::string& text) {
  const auto deadline = std::chrono::steady_clock::now() + kLong;
  std::string answer;
  while (answer.find(text) == std::string::npos) {
    if (std::chrono::steady_clock::now() > deadline) TEST_FAIL_MESSAGE(("last answer: " + answer).c_str());
    answer = http_get(port, path);
  }
}

}  // namespace

TEST("Prometheus reads the metrics, and the health tells when the broker is away") {
  LiveFleet fleet({.gateway_extra = "[metrics]\nlisten = \"127.0.0.1:0\"\n"});
  fleet.enrol("pi-1");
  fleet.start_gateway();
  const std::string port = metrics_port(fleet);
  HandDevice device(fleet, "pi-1");
  (void)device.insist(device.update(1, 0, 0));
  wait_for_http(port, "/metrics", "\naflguard_updates_accepted_total 1\n");
  wait_for_http(port, "/metrics", "\naflguard_devices_enrolled 1\n");
  ASSERT_CONTAINS(http_get(port, "/metrics"), "Content-Type: text/plain; version=0.0.4");
  ASSERT_CONTAINS(http_get(port, "/"), "404 Not Found");
  // ./run check metrics lets Prometheus's own tool read them too.
  if (const char* promtool = std::getenv("AFLGUARD_PROMTOOL")) {
    const std::string answer = http_get(port, "/metrics");
    ASSERT_OK(write_file_atomically(fleet.path() / "metrics", answer.substr(answer.find("\r\n\r\n") + 4)));
    const std::string command =
        std::string(promtool) + " check metrics < " + (fleet.path() / "metrics").string();
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, std::system(command.c_str()), command.c_str());
  }
  wait_for_http(port, "/healthz", "200 OK");
  ASSERT_CONTAINS(http_get(port, "/healthz"), R"("healthy":true)");
  fleet.broker().end(SIGKILL);
  wait_for_http(port, "/healthz", "503 Service Unavailable");
  wait_for_http(port, "/healthz", "the broker is away");
  wait_for_http(port, "/metrics", "\naflguard_broker_connected 0\n");
  fleet.broker().start();
  wait_for_http(port, "/healthz", "200 OK");
}

TEST("A gateway whose port for metrics is taken says so and does not start") {
  LiveFleet first({.gateway_extra = "[metrics]\nlisten = \"127.0.0.1:0\"\n"});
  first.start_gateway();
  LiveFleet second({.gateway_extra = "[metrics]\nlisten = \"" + metrics_port(first) + "\"\n"});
  second.launch_gateway();
  TEST_ASSERT_EQUAL_INT(1, second.wait_for_gateway_end());
  ASSERT_CONTAINS(second.gateway_log(), "cannot listen on " + metrics_port(first));
}

TEST("Home Assistant is told which sensors there are, and when they are gone") {
  LiveFleet fleet({.gateway_extra = "[home_assistant]\ndiscovery = true\n"});
  fleet.enrol("pi-1");
  fleet.enrol("pi-2");
  fleet.start_gateway();
  Listener home(fleet, "home-assistant", "homeassistant/#");
  const json state = json::parse(
      home.next_raw([](const RawMessage& message) {
            return message.topic == "homeassistant/sensor/aflguard_orchard_device-pi-1/state/config";
          })
          .payload);
  TEST_ASSERT_EQUAL_STRING("aflguard/v1/orchard/up/pi-1/status",
                           state.at("state_topic").get<std::string>().c_str());
  fleet.revoke("pi-1");
  (void)home.next_raw([](const RawMessage& message) {
    return message.payload.empty() && message.topic.find("device-pi-1/state") != std::string::npos;
  });
}
