// The listener for browsers: a real Mosquitto, and pages that try more than they may.
#include "core/system/atomic_file.h"
#include "fleet/provisioning/broker_reload.h"
#include "fleet/provisioning/dashboard_access.h"
#include "tests/support/test_fleet.h"

using namespace aflguard;
using namespace aflguard::fleet;
using testing::MqttUser;
using testing::RawMqttClient;
using testing::TestFleet;

namespace {

FleetSettings with_dashboard() {
  FleetSettings settings;
  settings.dashboard_port = testing::free_loopback_port();
  return settings;
}

struct Watched : TestFleet {
  explicit Watched(const FleetSettings& wanted = with_dashboard())
      : TestFleet(wanted), web_port(wanted.dashboard_port) {
    if (!testing::have_mosquitto()) TEST_IGNORE_MESSAGE("Mosquitto is not installed");
    add("pi-1");
    start_broker();
  }
  [[nodiscard]] std::string key() const {
    return read_dashboard_key(fleet->settings(), fleet->folder()).value();
  }
  [[nodiscard]] MqttUser user(const std::string& name, const std::string& password) const {
    return {name, password, fleet->folder().broker() / "ca.crt"};
  }
  [[nodiscard]] std::unique_ptr<RawMqttClient> page(int seat = 1,
                                                    const std::string& client_id = "anything") const {
    return std::make_unique<RawMqttClient>(web_port, user("dashboard~" + std::to_string(seat), key()),
                                           client_id);
  }
  std::uint16_t web_port;
};

}  // namespace

TEST("A dashboard reads what is for people, and nothing else") {
  Watched live;
  const auto page = live.page();
  TEST_ASSERT_TRUE(page->accepted());
  for (const char* filter : {"#", "aflguard/v1/f/#", "$SYS/#", "aflguard/v1/f/up/+/update",
                             "aflguard/v1/f/down/+/verdict", "aflguard/v1/f/model"}) {
    page->subscribe(filter);
  }
  const auto gateway = live.connect(live.gateway());
  const auto device = live.connect(live.device("pi-1"));
  TEST_ASSERT_TRUE(device->publish("aflguard/v1/f/up/pi-1/update", "secret"));
  TEST_ASSERT_TRUE(gateway->publish("aflguard/v1/f/model", "secret", /*retain=*/true));
  TEST_ASSERT_TRUE(gateway->publish("aflguard/v1/f/down/pi-1/verdict", "secret"));
  TEST_ASSERT_TRUE(device->publish("aflguard/v1/f/up/pi-1/status", "ready"));
  assert_next(*page, "aflguard/v1/f/up/pi-1/status", "ready");
  for (const char* topic :
       {"gateway/status", "gateway/metrics", "gateway/devices/pi-1", "events", "tell/dashboard/history"}) {
    TEST_ASSERT_TRUE(gateway->publish("aflguard/v1/f/" + std::string(topic), "for people"));
    assert_next(*page, "aflguard/v1/f/" + std::string(topic), "for people");
  }
  const auto late = live.page(2);
  late->subscribe("aflguard/v1/f/model");
  TEST_ASSERT_TRUE(gateway->publish("aflguard/v1/f/events", "after the retained model"));
  late->subscribe("aflguard/v1/f/events");
  TEST_ASSERT_TRUE(gateway->publish("aflguard/v1/f/events", "first"));
  assert_next(*late, "aflguard/v1/f/events", "first");
}

TEST("A dashboard writes nothing but its questions for history") {
  Watched live;
  const auto page = live.page();
  const auto gateway = live.connect(live.gateway());
  const auto device = live.connect(live.device("pi-1"));
  gateway->subscribe("aflguard/v1/f/#");
  device->subscribe("aflguard/v1/f/#");
  for (const char* topic :
       {"up/pi-1/update", "up/pi-1/status", "up/dashboard~1/update", "up/dashboard~1/status",
        "up/dashboard/update", "down/pi-1/verdict", "down/dashboard~1/verdict", "model", "events",
        "gateway/status", "gateway/metrics", "gateway/devices/pi-1", "ask/operator/history",
        "ask/dashboard~1/history", "tell/dashboard/history", "tell/operator/history"}) {
    TEST_ASSERT_TRUE(page->publish("aflguard/v1/f/" + std::string(topic), "forged", /*retain=*/true));
  }
  TEST_ASSERT_TRUE(page->publish("aflguard/v1/other/ask/dashboard/history", "another fleet"));
  TEST_ASSERT_TRUE(page->publish("aflguard/v1/f/ask/dashboard/history", "question"));
  // Messages of one sender keep their order: whatever was forged would have come first.
  assert_next(*gateway, "aflguard/v1/f/ask/dashboard/history", "question");
  TEST_ASSERT_TRUE(gateway->publish("aflguard/v1/f/model", "real"));
  assert_next(*device, "aflguard/v1/f/model", "real");
}

TEST("A dashboard can push nobody out but another page of the same seat") {
  Watched live;
  const auto gateway = live.connect(live.gateway(), "gateway");
  const auto device = live.connect(live.device("pi-1"), "pi-1");
  const auto first = live.page(1, "gateway");
  const auto second = live.page(2, "pi-1");
  TEST_ASSERT_TRUE(first->accepted() && second->accepted());
  TEST_ASSERT_TRUE(gateway->alive() && device->alive() && first->alive() && second->alive());
  const auto third = live.page(1, "x");
  TEST_ASSERT_TRUE(third->accepted() && third->alive());
  TEST_ASSERT_FALSE(first->alive());
}

TEST("The listener for browsers takes the key of users in its list, and no other name, password or nothing") {
  Watched live;
  const auto refused = [&](const std::string& name, const std::string& password) {
    return !RawMqttClient(live.web_port, live.user(name, password), "x").accepted();
  };
  TEST_ASSERT_TRUE(refused("", ""));
  TEST_ASSERT_TRUE(refused("dashboard~1", "wrong"));
  TEST_ASSERT_TRUE(refused("dashboard~1", ""));
  for (const char* name : {"gateway", "operator", "dashboard", "pi-1", "dashboard~17"}) {
    TEST_ASSERT_TRUE_MESSAGE(refused(name, live.key()), name);
  }
  for (int seat = 1; seat <= kDashboardSeats; ++seat) TEST_ASSERT_TRUE(live.page(seat)->accepted());
}

TEST("A new key is in force once the broker has read its files again, and the old one is not") {
  Watched live;
  const std::string old = live.key();
  ASSERT_OK(renew_dashboard_key(live.fleet->settings(), live.fleet->folder(), live.authority));
  TEST_ASSERT_TRUE(live.key() != old);
  const auto reload = reload_broker(live.fleet->settings(), live.fleet->folder());
  ASSERT_OK(reload);
  // The broker reads its files in a moment: until then the old key is still good.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!live.page()->accepted()) TEST_ASSERT_TRUE(std::chrono::steady_clock::now() < deadline);
  TEST_ASSERT_FALSE(RawMqttClient(live.web_port, live.user("dashboard~1", old), "x").accepted());
}

TEST("A fleet without a dashboard has no listener and no key; a refresh with a port makes both") {
  TestFleet live;
  const FleetFolder folder = live.fleet->folder();
  const auto configuration = read_text_file(folder.broker() / "mosquitto.conf");
  ASSERT_OK(configuration);
  TEST_ASSERT_TRUE(configuration->find("websockets") == std::string::npos);
  const auto none = read_dashboard_key(live.fleet->settings(), folder);
  TEST_ASSERT_FALSE(none.ok());
  TEST_ASSERT_TRUE(none.error().message.find("port = 8884") != std::string::npos);

  FleetSettings settings = live.fleet->settings();
  settings.dashboard_port = 8884;
  ASSERT_OK(write_file_atomically(folder.settings(), fleet_settings_text(settings)));
  live.fleet.reset();
  auto fleet = Fleet::open(folder.root);
  ASSERT_OK(fleet);
  ASSERT_OK(fleet->refresh_broker(live.authority, live.clock));
  const auto key = read_dashboard_key(fleet->settings(), folder);
  ASSERT_OK(key);
  TEST_ASSERT_EQUAL_size_t(32, key->size());
  const auto mode = std::filesystem::status(folder.dashboard_key()).permissions();
  TEST_ASSERT_TRUE((mode & (std::filesystem::perms::group_all | std::filesystem::perms::others_all)) ==
                   std::filesystem::perms::none);
  ASSERT_OK(fleet->refresh_broker(live.authority, live.clock));
  TEST_ASSERT_EQUAL_STRING(key->c_str(), read_dashboard_key(fleet->settings(), folder).value().c_str());
}

TEST("Settings of the dashboard that cannot be are refused by name") {
  FleetSettings settings;
  settings.name = "f";
  settings.dashboard_port = settings.broker_port;
  TEST_ASSERT_TRUE(check_settings(settings).error().message.find("8883") != std::string::npos);
  settings.dashboard_port = 8884;
  settings.dashboard_host = "everywhere";
  TEST_ASSERT_TRUE(check_settings(settings).error().message.find("everywhere") != std::string::npos);
}
