// A real Mosquitto with the files that provisioning writes, and clients that break the rules.
#include "core/system/atomic_file.h"
#include "tests/support/test_certificates.h"
#include "tests/support/test_fleet.h"

using namespace aflguard;
using namespace aflguard::fleet;
using testing::RawMessage;
using testing::TwoDevices;

TEST("A device cannot publish as another") {
  TwoDevices live;
  const auto gateway = live.connect(live.gateway());
  gateway->subscribe("aflguard/v1/f/up/+/update");
  gateway->subscribe("aflguard/v1/f/up/+/status");
  const auto device = live.connect(live.device("pi-1"), "pi-2");
  TEST_ASSERT_TRUE(device->publish("aflguard/v1/f/up/pi-2/update", "forged"));
  TEST_ASSERT_TRUE(device->publish("aflguard/v1/f/up/pi-2/status", "forged"));
  TEST_ASSERT_TRUE(device->publish("aflguard/v1/f/up/pi-1/other", "no topic of ours"));
  TEST_ASSERT_TRUE(device->publish("aflguard/v1/other/up/pi-1/update", "another fleet"));
  TEST_ASSERT_TRUE(device->publish("aflguard/v1/f/up/pi-1/update", "own"));
  // Messages of one sender keep their order: whatever was forged would have come first.
  assert_next(*gateway, "aflguard/v1/f/up/pi-1/update", "own");
}

TEST("A device cannot speak as the gateway") {
  TwoDevices live;
  const auto other = live.connect(live.device("pi-2"));
  other->subscribe("#");
  const auto device = live.connect(live.device("pi-1"), "gateway");
  for (const char* topic : {"model", "down/pi-2/verdict", "gateway/status", "gateway/metrics", "events"}) {
    TEST_ASSERT_TRUE(device->publish("aflguard/v1/f/" + std::string(topic), "forged"));
  }
  const auto gateway = live.connect(live.gateway());
  TEST_ASSERT_TRUE(gateway->publish("aflguard/v1/f/model", "real"));
  assert_next(*other, "aflguard/v1/f/model", "real");
}

TEST("A device reads its own verdicts and the model, and nothing of another") {
  TwoDevices live;
  const auto gateway = live.connect(live.gateway());
  const auto sibling = live.connect(live.device("pi-2"));
  const auto device = live.connect(live.device("pi-1"));
  for (const char* filter : {"#", "aflguard/v1/f/down/#", "aflguard/v1/f/down/pi-2/verdict"}) {
    device->subscribe(filter);
  }
  TEST_ASSERT_TRUE(gateway->publish("aflguard/v1/f/down/pi-2/verdict", "secret"));
  TEST_ASSERT_TRUE(sibling->publish("aflguard/v1/f/up/pi-2/update", "secret"));
  TEST_ASSERT_TRUE(gateway->publish("aflguard/v1/f/events", "for operators"));
  TEST_ASSERT_TRUE(gateway->publish("aflguard/v1/f/down/pi-1/verdict", "own"));
  assert_next(*device, "aflguard/v1/f/down/pi-1/verdict", "own");
}

TEST("A device cannot push another out by taking its client id") {
  TwoDevices live;
  const auto victim = live.connect(live.device("pi-2"), "pi-2");
  const auto gateway = live.connect(live.gateway(), "gateway");
  const auto thief = live.connect(live.device("pi-1"), "pi-2");
  const auto second = live.connect(live.device("pi-1"), "gateway");
  TEST_ASSERT_TRUE(thief->accepted() && second->accepted());
  TEST_ASSERT_TRUE(victim->alive() && gateway->alive());
  // Under its own name a device does replace its own older session.
  TEST_ASSERT_FALSE(thief->alive());
}

TEST("A viewer sees statuses, metrics, summaries and events, asks for history, and writes nothing else") {
  TwoDevices live;
  const std::string root = "aflguard/v1/f/";
  const auto gateway = live.connect(live.gateway());
  for (const char* filter : {"up/+/update", "up/+/status", "ask/+/history"})
    gateway->subscribe(root + filter);
  const auto device = live.connect(live.device("pi-1"));
  for (const std::string_view each : kFleetViewers) {
    const std::string name(each);
    const auto viewer = live.connect(live.viewer(name));
    viewer->subscribe(root + "#");
    for (const std::string& topic :
         {"up/" + name + "/update", "up/" + name + "/status", std::string("up/pi-1/update"),
          std::string("up/pi-1/status"), std::string("model"), std::string("events"),
          std::string("gateway/status"), std::string("gateway/metrics"), std::string("gateway/devices/pi-1"),
          std::string("down/pi-1/verdict"), std::string("ask/someone/history"), "tell/" + name + "/history",
          "ask/" + name + "/other", std::string("other")}) {
      TEST_ASSERT_TRUE(viewer->publish(root + topic, "forged"));
    }
    TEST_ASSERT_TRUE(viewer->publish(root + "ask/" + name + "/history", "question"));
    assert_next(*gateway, root + "ask/" + name + "/history", "question");

    TEST_ASSERT_TRUE(device->publish(root + "up/pi-1/update", "not for viewers"));
    assert_next(*gateway, root + "up/pi-1/update", "not for viewers");
    for (const std::string& topic :
         {std::string("model"), std::string("down/pi-1/verdict"), std::string("tell/someone/history")}) {
      TEST_ASSERT_TRUE(gateway->publish(root + topic, "not for viewers"));
    }
    for (const std::string& topic :
         {std::string("gateway/status"), std::string("gateway/metrics"), std::string("gateway/devices/pi-1"),
          std::string("events"), "tell/" + name + "/history"}) {
      TEST_ASSERT_TRUE(gateway->publish(root + topic, "{}"));
      assert_next(*viewer, root + topic, "{}");
    }
    TEST_ASSERT_TRUE(device->publish(root + "up/pi-1/status", "ready"));
    assert_next(*viewer, root + "up/pi-1/status", "ready");
    assert_next(*gateway, root + "up/pi-1/status", "ready");
  }
}

TEST("A device cannot read what viewers read, nor ask as one") {
  TwoDevices live;
  const auto gateway = live.connect(live.gateway());
  gateway->subscribe("aflguard/v1/f/ask/+/history");
  const auto device = live.connect(live.device("pi-1"));
  device->subscribe("#");
  for (const char* topic : {"ask/operator/history", "ask/pi-1/history"}) {
    TEST_ASSERT_TRUE(device->publish("aflguard/v1/f/" + std::string(topic), "forged"));
  }
  for (const char* topic : {"gateway/devices/pi-1", "tell/pi-1/history", "tell/operator/history"}) {
    TEST_ASSERT_TRUE(gateway->publish("aflguard/v1/f/" + std::string(topic), "not for devices"));
  }
  TEST_ASSERT_TRUE(gateway->publish("aflguard/v1/f/model", "for all"));
  assert_next(*device, "aflguard/v1/f/model", "for all");
  const auto viewer = live.connect(live.viewer("operator"));
  TEST_ASSERT_TRUE(viewer->publish("aflguard/v1/f/ask/operator/history", "real"));
  assert_next(*gateway, "aflguard/v1/f/ask/operator/history", "real");
}

TEST("Certificates that ended, of another authority, or of a server are refused, and so is TLS 1.2") {
  TwoDevices live;
  const auto folder = live.temporary.path();
  testing::TestAuthority foreign(folder, "foreign");
  const auto stranger = foreign.issue("pi-1", testing::CertificateUse::kClient);
  TEST_ASSERT_FALSE(
      live.connect({stranger.certificate, stranger.key, live.device("pi-1").authority})->accepted());

  const auto now = live.clock.wall();
  const auto old = live.authority.issue(
      {"pi-1", CertificateUse::kClient, {}, now - std::chrono::hours(2), now - std::chrono::hours(1)});
  ASSERT_OK(old);
  ASSERT_OK(write_file_atomically(folder / "old.crt", old->certificate.pem));
  ASSERT_OK(write_file_atomically(folder / "old.key", old->private_pem));
  TEST_ASSERT_FALSE(
      live.connect({folder / "old.crt", folder / "old.key", live.device("pi-1").authority})->accepted());

  const auto broker = live.fleet->folder().broker();
  TEST_ASSERT_FALSE(
      live.connect({broker / "broker.crt", broker / "broker.key", broker / "ca.crt"})->accepted());

  TEST_ASSERT_FALSE(
      testing::RawMqttClient(live.port, live.device("pi-1"), "x", /*newest_tls=*/false).accepted());
  TEST_ASSERT_TRUE(live.connect(live.device("pi-1"))->accepted());
}

TEST("Thousands of pieces wait for a gateway that pauses, and none is lost") {
  TwoDevices live;
  const auto gateway = live.connect(live.gateway());
  gateway->subscribe("aflguard/v1/f/up/+/update");
  const auto device = live.connect(live.device("pi-1"));
  constexpr int kPieces = 3000;  // Mosquitto's own default would keep 1000
  for (int i = 0; i < kPieces; ++i) {
    TEST_ASSERT_TRUE(
        device->publish("aflguard/v1/f/up/pi-1/update", std::to_string(i) + std::string(2000, '.')));
  }
  for (int i = 0; i < kPieces; ++i) {
    const auto message = gateway->receive();
    TEST_ASSERT_TRUE_MESSAGE(message.has_value(), std::to_string(i).c_str());
    TEST_ASSERT_EQUAL_INT(i, std::stoi(message->payload));
  }
}

TEST("What waits for a stalled receiver is bounded by the fleet's queue limit") {
  FleetSettings settings;
  settings.queue_bytes = 1 << 20;
  TwoDevices live(settings);
  const auto gateway = live.connect(live.gateway());
  gateway->subscribe("aflguard/v1/f/up/+/update");
  const auto device = live.connect(live.device("pi-1"));
  constexpr int kPieces = 1000;
  const std::string body(16 << 10, '.');
  for (int i = 0; i < kPieces; ++i) TEST_ASSERT_TRUE(device->publish("aflguard/v1/f/up/pi-1/update", body));
  TEST_ASSERT_TRUE(device->publish("aflguard/v1/f/up/pi-1/update", body));
  // What was kept comes before this one, which is sent once the queue has room again.
  int kept = 0;
  for (; kept < 60; ++kept) TEST_ASSERT_TRUE(gateway->receive().has_value());
  TEST_ASSERT_TRUE(device->publish("aflguard/v1/f/up/pi-1/update", "end"));
  while (gateway->receive()->payload != "end") ++kept;
  TEST_ASSERT_TRUE(kept < kPieces / 2);
}

TEST("A message far above the fleet's limit does not pass, one at the limit does") {
  FleetSettings settings;
  settings.message_bytes = 64 << 10;
  TwoDevices live(settings);
  const auto gateway = live.connect(live.gateway());
  gateway->subscribe("aflguard/v1/f/up/+/update");
  const auto device = live.connect(live.device("pi-1"));
  device->publish("aflguard/v1/f/up/pi-1/update", std::string(2 * settings.message_bytes, 'x'));
  const auto again = live.connect(live.device("pi-1"));
  const std::string fits(settings.message_bytes, 'y');
  TEST_ASSERT_TRUE(again->publish("aflguard/v1/f/up/pi-1/update", fits));
  assert_next(*gateway, "aflguard/v1/f/up/pi-1/update", fits);
}
