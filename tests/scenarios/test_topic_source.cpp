// Rows from a topic of a real broker, end to end: published by a sensor, on the board's disk, trained on,
// judged.
#include <algorithm>
#include <csignal>

#include "core/system/atomic_file.h"
#include "models/zoo/zoo_package.h"
#include "tests/scenarios/device_rig.h"
#include "tests/support/quiet_log.h"
#include "tests/support/wait_until.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

/// A sensor's own broker, without TLS, and the sensor.
class Sensor final {
 public:
  explicit Sensor(const std::filesystem::path& folder) : port_(free_loopback_port()) {
    ASSERT_OK(write_file_atomically(
        folder / "sensor.conf", "listener " + std::to_string(port_) + " 127.0.0.1\nallow_anonymous true\n"));
    broker_.emplace(folder / "sensor.conf", port_, folder / "sensor-broker.log");
    MqttOptions options;
    options.host = "127.0.0.1";
    options.port = port_;
    options.client_id = "sensor";
    bus_ = std::move(MqttBus::create(options, log_)).value();
    ASSERT_OK(bus_->start());
    wait_until("the sensor does not connect", [&] { return next<BusConnected>(); });
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Returns when the broker has it.
  void say(const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    ASSERT_OK(bus_->publish({"sensors/press-7/state", Bytes(bytes.begin(), bytes.end()), false}));
    wait_until("the broker does not take " + text, [&] { return next<BusPublished>(); });
  }

 private:
  template <typename Event>
  bool next() {
    const auto event = bus_->next_event({});
    return event && std::holds_alternative<Event>(*event);
  }
  std::uint16_t port_;
  QuietLog log_;
  std::optional<ConfiguredBroker> broker_;
  std::unique_ptr<MqttBus> bus_;
};

std::size_t rows_in(const std::filesystem::path& file) {
  const auto text = read_text_file(file);
  if (!text.ok()) return 0;
  return static_cast<std::size_t>(std::count(text->begin(), text->end(), '\n'));
}

}  // namespace

TEST(
    "Rows of a real broker's topic are on the disk before they are trained on, and what is not a number "
    "is named") {
  ModelPackage package =
      models::build_zoo_package("logistic-regression", {.features = 2, .classes = 2}).value();
  package.description.class_names = {"idle", "run"};
  package.description.hash = layout_hash(package.description);
  DeviceRig rig(package);
  Sensor sensor(rig.folder.path());
  rig.write_config("format = \"csv\"\nfile = \"rows.csv\"\nfollow = true\n",
                   "[topic]\nfilter = \"sensors/+/state\"\npayload = \"json\"\nfields = [\"t\", \"p\", "
                   "\"state\"]\nhost = \"127.0.0.1\"\nport = " +
                       std::to_string(sensor.port()) + "\n");
  rig.gateway->publish_model();
  rig.start_client();
  rig.until([&] { return rig.client_log().find("connected to the broker of topic") != std::string::npos; },
            "the connection to the sensor's broker");
  rig.until([&] { return rig.status_says("waiting for samples"); }, "a board without samples");
  TEST_ASSERT_EQUAL_size_t(0, rig.gateway->applied());

  // The first row may be said before the subscription is in force: it is said until it arrives.
  rig.until(
      [&] {
        sensor.say(R"({"t": 1.5, "p": -2, "state": "run"})");
        return rows_in(rig.folder / "rows.csv") >= 2;
      },
      "a row on the disk");
  rig.until([&] { return rig.gateway->applied() >= 1; }, "an update of the first row");
  sensor.say(R"({"t": "hot", "p": 3, "state": "run"})");
  sensor.say(R"({"t": 2, "p": 3, "state": "broken"})");
  sensor.say("not JSON at all");
  for (int i = 0; i < 20; ++i) {
    sensor.say("{\"t\": " + std::to_string(i) + ", \"p\": 3, \"state\": \"" + (i % 2 == 0 ? "idle" : "run") +
               "\"}");
  }
  rig.until([&] { return !rig.gateway->seen.empty() && rig.gateway->seen.back().message.samples == 8; },
            "an update of a whole batch");
  for (const char* named :
       {"'hot' is not a number", "'broken'", "payloads of topic sensors/+/state refused"}) {
    rig.until([&] { return rig.client_log().find(named) != std::string::npos; }, named);
  }

  // What is on the disk is learned from after a power cut, without the sensor.
  (void)rig.end_client(SIGKILL);
  const std::size_t rows = rows_in(rig.folder / "rows.csv");
  TEST_ASSERT_TRUE(rows >= 24);
  const auto applied = rig.gateway->applied();
  rig.start_client();
  rig.until([&] { return rig.gateway->applied() > applied; }, "an update after the power cut");
  TEST_ASSERT_EQUAL_size_t(rows, rows_in(rig.folder / "rows.csv"));
}
