#include <map>
#include <nlohmann/json.hpp>  // before Unity, which defines isnan and isinf

#include "core/telemetry/schemas.h"
#include "core/transport/in_process_broker.h"
#include "gateway_server/telemetry/gateway_telemetry.h"
#include "tests/gateway_server/intake/book_on_disk.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;
using nlohmann::json;

namespace {

constexpr std::chrono::seconds kInterval(2);

Bytes as_bytes(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string text_of(const Message& message) {
  return {reinterpret_cast<const char*>(message.payload.data()), message.payload.size()};
}

/// Telemetry of a fleet of two devices, a viewer who reads its events, and time that only the test moves.
class TelemetryBench final {
 public:
  explicit TelemetryBench(std::optional<std::string> home_assistant_prefix = {}) {
    book.add("pi-1");
    book.add("pi-2");
    registry = LiveRegistry::open(book.path(), book.clock, book.log).value();
    ASSERT_OK(bus_->start());
    ASSERT_OK(viewer_->subscribe(topics.events()));
    ASSERT_OK(viewer_->start());
    counters.judge_alive_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(clock.steady().time_since_epoch()).count();
    telemetry.emplace(TelemetryParts{.topics = topics,
                                     .name = {"orchard", "aflguard", "0.1.0"},
                                     .store_folder = folder_.path(),
                                     .interval = kInterval,
                                     .home_assistant_prefix = std::move(home_assistant_prefix),
                                     .bus = *bus_,
                                     .retain =
                                         [this](const Message& message) {
                                           TEST_ASSERT_TRUE(message.retained);
                                           retained[message.topic] = text_of(message);
                                         },
                                     .load = [] { return GatewayLoad{.waiting = 9}; },
                                     .registry = *registry,
                                     .counters = counters,
                                     .refusals = refusals,
                                     .clock = clock,
                                     .log = log});
  }

  /// The events since the last call: kind and device.
  [[nodiscard]] std::vector<std::string> events() {
    broker_.settle();
    std::vector<std::string> seen;
    while (auto event = viewer_->next_event({})) {
      if (const auto* received = std::get_if<BusReceived>(&*event)) {
        const json parsed = json::parse(text_of(received->message));
        const std::string device = parsed.value("device", "");
        seen.push_back(parsed.at("kind").get<std::string>() + (device.empty() ? "" : " " + device));
      }
    }
    return seen;
  }
  [[nodiscard]] json retained_at(const std::string& topic) const { return json::parse(retained.at(topic)); }
  void status(const std::string& device, const std::string& state, bool was_retained = false) {
    telemetry->take_status(device, {topics.device_status(device),
                                    as_bytes(R"({"schema":")" + std::string(kDeviceStatusSchema) +
                                             R"(","state":")" + state + "\"}"),
                                    was_retained});
  }
  void verdict(const std::string& device, bool accepted) {
    JudgedUpdate update;
    update.id = 1;
    update.device = device;
    update.accepted = 3;
    update.verdict.accepted = accepted;
    telemetry->show_verdict(update, clock.steady());
  }
  void tick_later(std::chrono::steady_clock::duration span) {
    clock.advance(span);
    telemetry->tick(clock.steady());
  }

  SteppedClock clock;
  KeptLog log;
  BookOnDisk book;
  std::unique_ptr<LiveRegistry> registry;
  FleetTopics topics = FleetTopics::create("orchard").value();
  GatewayCounters counters;
  RefusalLog refusals{log};
  std::map<std::string, std::string> retained;

 private:
  TemporaryFolder folder_;
  InProcessBroker broker_{1};
  std::unique_ptr<MessageBus> bus_ = broker_.client("gateway");
  std::unique_ptr<MessageBus> viewer_ = broker_.client("viewer");

 public:
  std::optional<GatewayTelemetry> telemetry;
};

void expect(const std::vector<std::string>& wanted, const std::vector<std::string>& got) {
  std::string all;
  for (const std::string& text : got) all += text + "; ";
  TEST_ASSERT_TRUE_MESSAGE(wanted == got, all.c_str());
}

}  // namespace

TEST("With a connection the gateway says that it is ready, and that it has started once") {
  TelemetryBench bench;
  TEST_ASSERT_TRUE(bench.retained.empty());
  bench.telemetry->on_connected();
  TEST_ASSERT_EQUAL_STRING(
      "ready", bench.retained_at(bench.topics.gateway_status()).at("state").get<std::string>().c_str());
  expect({"started"}, bench.events());
  bench.telemetry->on_disconnected();
  bench.telemetry->on_connected();
  expect({}, bench.events());
}

TEST("A store that fails and works again changes the status and makes an event each time") {
  TelemetryBench bench;
  bench.telemetry->on_connected();
  (void)bench.events();
  bench.counters.store_failing = true;
  bench.tick_later(std::chrono::milliseconds(1));
  TEST_ASSERT_EQUAL_STRING(
      "alert", bench.retained_at(bench.topics.gateway_status()).at("state").get<std::string>().c_str());
  bench.tick_later(std::chrono::milliseconds(1));
  bench.counters.store_failing = false;
  bench.tick_later(std::chrono::milliseconds(1));
  TEST_ASSERT_EQUAL_STRING(
      "ready", bench.retained_at(bench.topics.gateway_status()).at("state").get<std::string>().c_str());
  expect({"store-failing", "store-works"}, bench.events());
}

TEST("A store that is damaged, or for one device, makes an alert that says what it is") {
  TelemetryBench bench;
  bench.telemetry->on_connected();
  (void)bench.events();
  bench.counters.store_report.set_unreadable("pi-1", "the verdict of pi-1 could not be read");
  bench.tick_later(std::chrono::milliseconds(1));
  const auto alert = bench.retained_at(bench.topics.gateway_status());
  TEST_ASSERT_EQUAL_STRING("alert", alert.at("state").get<std::string>().c_str());
  ASSERT_CONTAINS(alert.at("message").get<std::string>(), "the verdict of pi-1 could not be read");
  bench.counters.store_report.set_damaged("gateway.db: was removed");
  bench.tick_later(std::chrono::milliseconds(1));
  ASSERT_CONTAINS(bench.retained_at(bench.topics.gateway_status()).at("message").get<std::string>(),
                  "gateway.db: was removed");
  expect({"store-failing"}, bench.events());
}

TEST("Verdicts and states of enrolled devices make summaries and events, those of others nothing") {
  TelemetryBench bench;
  bench.telemetry->on_connected();
  (void)bench.events();
  bench.verdict("pi-1", false);
  bench.verdict("pi-9", false);
  bench.status("pi-2", "training");
  bench.status("pi-9", "training");
  bench.tick_later(std::chrono::seconds(3));
  expect({"rejected pi-1", "joined pi-2"}, bench.events());
  TEST_ASSERT_EQUAL_INT(3, bench.retained_at(bench.topics.device_summary("pi-1")).at("accepted").get<int>());
  TEST_ASSERT_TRUE(bench.retained.contains(bench.topics.device_summary("pi-2")));
  TEST_ASSERT_FALSE(bench.retained.contains(bench.topics.device_summary("pi-9")));
}

TEST("Metrics come once in an interval, with load, devices and refusals; refusals are events then") {
  TelemetryBench bench;
  bench.telemetry->on_connected();
  bench.status("pi-1", "training");
  bench.tick_later(kInterval);
  (void)bench.events();
  bench.refusals.note("pi-2", refuse(RefusalReason::kMalformed, "not CBOR"), bench.clock.steady());
  bench.retained.clear();
  bench.tick_later(kInterval - std::chrono::milliseconds(1));
  TEST_ASSERT_FALSE(bench.retained.contains(bench.topics.gateway_metrics()));
  bench.tick_later(std::chrono::milliseconds(1));
  const json metrics = bench.retained_at(bench.topics.gateway_metrics());
  TEST_ASSERT_EQUAL_INT(9, metrics.at("queue").get<int>());
  TEST_ASSERT_EQUAL_INT(2, metrics.at("devices").get<int>());
  TEST_ASSERT_EQUAL_INT(1, metrics.at("devices_connected").get<int>());
  TEST_ASSERT_EQUAL_INT(1, metrics.at("refused").at("malformed").get<int>());
  expect({"refused pi-2"}, bench.events());
}

TEST("What was published of a revoked device is taken back") {
  TelemetryBench bench("homeassistant");
  bench.telemetry->on_connected();
  bench.verdict("pi-1", true);
  for (int i = 0; i < 10; ++i) bench.tick_later(std::chrono::seconds(3));
  const std::string sensor = "homeassistant/sensor/aflguard_orchard_device-pi-1/state/config";
  TEST_ASSERT_FALSE(bench.retained.at(sensor).empty());
  TEST_ASSERT_FALSE(bench.retained.at(bench.topics.device_summary("pi-1")).empty());
  bench.book.revoke("pi-1");
  const auto news = bench.registry->refresh();
  TEST_ASSERT_TRUE(news.has_value());
  bench.telemetry->follow_book(*news);
  for (int i = 0; i < 10; ++i) bench.tick_later(std::chrono::seconds(3));
  TEST_ASSERT_TRUE(bench.retained.at(sensor).empty());
  TEST_ASSERT_TRUE(bench.retained.at(bench.topics.device_summary("pi-1")).empty());
  TEST_ASSERT_TRUE(bench.retained.at(bench.topics.device_status("pi-1")).empty());
}

TEST("A last will that comes after the revocation is taken back, too, and no figure counts the device") {
  TelemetryBench bench;
  bench.telemetry->on_connected();
  bench.status("pi-1", "training");
  bench.status("pi-2", "lost");
  bench.book.revoke("pi-1");
  const auto news = bench.registry->refresh();
  TEST_ASSERT_TRUE(news.has_value());
  bench.telemetry->follow_book(*news);
  bench.tick_later(std::chrono::seconds(3));
  bench.retained.clear();
  bench.status("pi-1", "lost");
  bench.tick_later(std::chrono::seconds(3));
  TEST_ASSERT_TRUE(bench.retained.at(bench.topics.device_status("pi-1")).empty());
  TEST_ASSERT_FALSE(bench.retained.contains(bench.topics.device_status("pi-2")));
  const json metrics = bench.retained_at(bench.topics.gateway_metrics());
  TEST_ASSERT_EQUAL_INT(1, metrics.at("devices").get<int>());
  TEST_ASSERT_EQUAL_INT(0, metrics.at("devices_connected").get<int>());
  TEST_ASSERT_EQUAL_INT(1, metrics.at("devices_lost").get<int>());
  for (int i = 0; i < 10; ++i) bench.tick_later(std::chrono::seconds(3));
  bench.retained.clear();
  bench.tick_later(std::chrono::seconds(3));
  TEST_ASSERT_FALSE(bench.retained.contains(bench.topics.device_status("pi-1")));  // it is gone for good
}

TEST("A model that becomes worse is the gateway's alert until it is better, and an event each time") {
  TelemetryBench bench;
  bench.telemetry->on_connected();
  (void)bench.events();
  const auto evaluate = [&](double error) {
    for (int i = 0; i < 4; ++i) {
      bench.counters.test_error = error;
      ++bench.counters.evaluations;
      bench.tick_later(kInterval);
    }
  };
  const auto state = [&] {
    return bench.retained_at(bench.topics.gateway_status()).at("state").get<std::string>();
  };
  evaluate(0.1);
  TEST_ASSERT_EQUAL_STRING("ready", state().c_str());
  evaluate(0.8);
  TEST_ASSERT_EQUAL_STRING("alert", state().c_str());
  TEST_ASSERT_EQUAL_STRING(R"(["rising-error"])",
                           bench.retained_at(bench.topics.gateway_metrics()).at("troubles").dump().c_str());
  evaluate(0.1);
  TEST_ASSERT_EQUAL_STRING("ready", state().c_str());
  expect({"trouble", "trouble-over"}, bench.events());
}

TEST("While there is no broker, summaries and sensors wait; then all of them are published") {
  TelemetryBench bench("homeassistant");
  DeviceRecord known;
  known.name = "pi-2";
  bench.telemetry->add(known);
  bench.verdict("pi-1", true);
  bench.tick_later(std::chrono::seconds(3));
  TEST_ASSERT_FALSE(bench.retained.contains(bench.topics.device_summary("pi-1")));
  bench.telemetry->on_connected();
  for (int i = 0; i < 10; ++i) bench.tick_later(std::chrono::seconds(3));
  TEST_ASSERT_TRUE(bench.retained.contains(bench.topics.device_summary("pi-1")));
  TEST_ASSERT_TRUE(bench.retained.contains(bench.topics.device_summary("pi-2")));
  TEST_ASSERT_TRUE(bench.retained.contains("homeassistant/sensor/aflguard_orchard_gateway/error/config"));
}

TEST("The end is an event, the last metrics and a status that says goodbye") {
  TelemetryBench bench;
  bench.telemetry->on_connected();
  (void)bench.events();
  bench.telemetry->announce_stop();
  bench.telemetry->stop_history();
  bench.telemetry->publish_goodbye(bench.clock.steady());
  expect({"stopping"}, bench.events());
  TEST_ASSERT_TRUE(bench.retained.contains(bench.topics.gateway_metrics()));
  const json status = bench.retained_at(bench.topics.gateway_status());
  TEST_ASSERT_EQUAL_STRING("disconnected", status.at("state").get<std::string>().c_str());
}
