#include <csignal>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "core/envelope/piece_assembler.h"
#include "core/envelope/piece_sender.h"
#include "core/transport_mqtt/mqtt_bus.h"
#include "tests/core/transport_mqtt/old_broker.h"
#include "tests/support/quiet_log.h"
#include "tests/support/test.h"
#include "tests/support/test_broker.h"

using namespace aflguard;
using namespace aflguard::testing;
using namespace std::chrono_literals;

namespace {

/// Longer than anything takes; a test that waits this long has failed.
constexpr auto kLong = 180s;  // a handshake that an emulator was too slow for is tried again after a minute

Message message_of(std::string topic, std::string_view text, bool retained = false) {
  const auto bytes = std::as_bytes(std::span(text));
  return {std::move(topic), Bytes(bytes.begin(), bytes.end()), retained};
}

std::string text_of(const Message& message) {
  return {reinterpret_cast<const char*>(message.payload.data()), message.payload.size()};
}

/// A broker with TLS, and clients with certificates of its authority.
struct Network {
  explicit Network(const BrokerSettings& settings = {})
      : authority(folder.path(), "authority"), broker(folder.path(), authority, settings) {}

  TemporaryFolder folder;
  TestAuthority authority;
  TestBroker broker;
  QuietLog log;

  [[nodiscard]] MqttOptions options(const std::string& name) {
    const CertificateFiles own = authority.issue(name, CertificateUse::kClient);
    MqttOptions options;
    options.port = broker.port();
    options.client_id = name;
    options.tls = TlsFiles{authority.certificate(), own.certificate, own.key};
    options.shortest_backoff = 20ms;
    options.longest_backoff = 200ms;
    return options;
  }
  [[nodiscard]] std::unique_ptr<MqttBus> bus(const MqttOptions& options) {
    return std::move(MqttBus::create(options, log)).value();
  }
};

/// Events until one of that kind comes; it is returned, the others are gone.
template <typename Event>
Event wait_for(
    MessageBus& bus, const std::function<bool(const Event&)>& wanted = [](const Event&) { return true; }) {
  const auto deadline = std::chrono::steady_clock::now() + kLong;
  while (auto event = bus.next_event(deadline)) {
    if (auto* found = std::get_if<Event>(&*event); found != nullptr && wanted(*found))
      return std::move(*found);
  }
  TEST_FAIL_MESSAGE("the event did not come");
  return {};
}

std::unique_ptr<MqttBus> connected(Network& network, const MqttOptions& options,
                                   const std::string& filter = {}) {
  auto bus = network.bus(options);
  if (!filter.empty()) ASSERT_OK(bus->subscribe(filter));
  ASSERT_OK(bus->start());
  wait_for<BusConnected>(*bus);
  return bus;
}

/// Why a bus that must not connect did not.
std::string refusal(Network& network, const MqttOptions& options) {
  auto bus = network.bus(options);
  ASSERT_OK(bus->start());
  const auto event = bus->next_event(std::chrono::steady_clock::now() + kLong);
  TEST_ASSERT_TRUE_MESSAGE(event.has_value(), "nothing happened");
  TEST_ASSERT_FALSE_MESSAGE(std::holds_alternative<BusConnected>(*event), "it connected");
  return std::get<BusDisconnected>(*event).reason;
}

void skip_without_broker() {
  if (!have_mosquitto()) TEST_IGNORE_MESSAGE("mosquitto is not installed; ./run setup installs it");
}

}  // namespace

TEST("A client that another one of its name pushes out learns it, and why where the broker says so") {
  skip_without_broker();
  Network network;
  MqttOptions options = network.options("viewer");
  options.shortest_backoff = options.longest_backoff = 60s;  // the second one is not pushed out in turn
  const auto first = connected(network, options);
  const auto second = connected(network, options);
  const auto lost = wait_for<BusDisconnected>(*first);
  // Mosquitto 2.0.11 just hangs up; later ones say that the session was taken over.
  ASSERT_CONTAINS(lost.reason, lost.taken_over ? "another client connected as 'viewer'" : "connection lost");
}

TEST("Over mutual TLS, a message of 560 KB arrives whole and its sender learns that the broker has it") {
  skip_without_broker();
  Network network;
  const auto hearer = connected(network, network.options("hearer"), "up/+");
  const auto sender = connected(network, network.options("sender"));
  Message large{"up/1", Bytes(560'000), false};
  for (std::size_t i = 0; i < large.payload.size(); ++i) large.payload[i] = static_cast<std::byte>(i * 31);
  const auto id = sender->publish(large);
  ASSERT_OK(id);
  TEST_ASSERT_EQUAL_UINT64(*id, wait_for<BusPublished>(*sender).id);
  const BusReceived received = wait_for<BusReceived>(*hearer);
  TEST_ASSERT_TRUE(received.message.payload == large.payload);
  TEST_ASSERT_EQUAL_STRING("up/1", received.message.topic.c_str());
}

TEST("Automatic means MQTT 5 where the broker has it, and 3.1.1 can be asked for") {
  skip_without_broker();
  Network network;
  for (const auto& [protocol, name] :
       {std::pair(MqttProtocol::kAutomatic, "MQTT 5"), std::pair(MqttProtocol::kMqtt311, "MQTT 3.1.1")}) {
    MqttOptions options = network.options("client");
    options.protocol = protocol;
    auto bus = network.bus(options);
    ASSERT_OK(bus->subscribe("t"));
    ASSERT_OK(bus->start());
    TEST_ASSERT_EQUAL_STRING(name, wait_for<BusConnected>(*bus).protocol.c_str());
    ASSERT_OK(bus->publish(message_of("t", "echo")));
    TEST_ASSERT_EQUAL_STRING("echo", text_of(wait_for<BusReceived>(*bus).message).c_str());
  }
}

TEST("Automatic means MQTT 3.1.1 where the broker turns MQTT 5 away") {
  QuietLog log;
  const OldBroker broker;
  MqttOptions options;
  options.host = "127.0.0.1";
  options.port = broker.port();
  options.client_id = "client";
  options.shortest_backoff = 10ms;
  options.longest_backoff = 20ms;
  auto bus = std::move(MqttBus::create(options, log)).value();
  ASSERT_OK(bus->start());
  TEST_ASSERT_EQUAL_STRING("MQTT 3.1.1", wait_for<BusConnected>(*bus).protocol.c_str());
  bus->stop();
}

TEST("After the broker was killed and came back, subscriptions hold and messages flow again") {
  skip_without_broker();
  Network network;
  const auto hearer = connected(network, network.options("hearer"), "t");
  const auto sender = connected(network, network.options("sender"));
  for (int i = 0; i < 2; ++i) {
    network.broker.end(SIGKILL);
    wait_for<BusDisconnected>(*hearer);
    wait_for<BusDisconnected>(*sender);
    TEST_ASSERT_FALSE(sender->publish(message_of("t", "nobody")).ok());
    network.broker.start();
    wait_for<BusConnected>(*hearer);
    wait_for<BusConnected>(*sender);
    ASSERT_OK(sender->publish(message_of("t", "again")));
    TEST_ASSERT_EQUAL_STRING("again", text_of(wait_for<BusReceived>(*hearer).message).c_str());
  }
  TEST_ASSERT_EQUAL_UINT64(3, hearer->counters().connections);
}

TEST("A filter that comes after the connection is subscribed to as well") {
  skip_without_broker();
  Network network;
  const auto sender = connected(network, network.options("sender"));
  ASSERT_OK(sender->publish(message_of("model", "kept", true)));
  wait_for<BusPublished>(*sender);
  ASSERT_OK(sender->subscribe("model"));
  const BusReceived received = wait_for<BusReceived>(*sender);
  TEST_ASSERT_TRUE(received.message.retained);
  TEST_ASSERT_EQUAL_STRING("kept", text_of(received.message).c_str());
}

TEST("The last will comes when the broker loses a client, and not when the client says goodbye") {
  skip_without_broker();
  Network network;
  const auto watcher = connected(network, network.options("watcher"), "status/#");
  MqttOptions options = network.options("polite");
  options.last_will = LastWill{message_of("status/polite", "lost")};
  connected(network, options)->stop();
  options = network.options("device");
  options.last_will = LastWill{message_of("status/device", "lost")};
  const auto device = connected(network, options);
  // A broker allows a name once: the second client pushes out the first, which then comes back and does the
  // same.
  const auto rival = connected(network, options);
  const BusReceived will = wait_for<BusReceived>(*watcher);
  TEST_ASSERT_EQUAL_STRING("status/device", will.message.topic.c_str());
  TEST_ASSERT_EQUAL_STRING("lost", text_of(will.message).c_str());
}

TEST("A broker does not talk to a client that another authority vouches for, nor to one whose time is up") {
  skip_without_broker();
  Network network;
  TestAuthority stranger(network.folder.path(), "stranger");
  const MqttOptions good = network.options("client");
  static_cast<void>(connected(network, good));
  MqttOptions foreign = good;
  const CertificateFiles theirs = stranger.issue("client", CertificateUse::kClient);
  foreign.tls->certificate_file = theirs.certificate;
  foreign.tls->key_file = theirs.key;
  TEST_ASSERT_FALSE(refusal(network, foreign).empty());
  MqttOptions expired = good;
  const CertificateFiles old = network.authority.issue("client", CertificateUse::kClient, {}, -60);
  expired.tls->certificate_file = old.certificate;
  expired.tls->key_file = old.key;
  TEST_ASSERT_FALSE(refusal(network, expired).empty());
}

TEST("A client does not talk to a broker that another authority vouches for") {
  skip_without_broker();
  Network network;
  TestAuthority stranger(network.folder.path(), "stranger");
  MqttOptions options = network.options("client");
  options.tls->ca_file = stranger.certificate();
  ASSERT_CONTAINS(refusal(network, options), "the broker's certificate is refused");
}

TEST("A client does not talk to a broker whose certificate names another host") {
  skip_without_broker();
  BrokerSettings settings;
  settings.server_names = "DNS:elsewhere.example";
  Network network(settings);
  TEST_ASSERT_FALSE(refusal(network, network.options("client")).empty());
}

TEST("TLS 1.2 is not spoken, even when the broker has nothing better") {
  skip_without_broker();
  BrokerSettings settings;
  settings.openssl_settings = "MaxProtocol = TLSv1.2";
  Network network(settings);
  TEST_ASSERT_FALSE(refusal(network, network.options("client")).empty());
}

TEST("A queue that is full drops what comes and counts it, and the bus goes on") {
  skip_without_broker();
  Network network;
  MqttOptions options = network.options("hearer");
  options.max_queued_messages = 3;
  const auto hearer = connected(network, options, "t");
  const auto sender = connected(network, network.options("sender"));
  for (int i = 0; i < 10; ++i) {
    ASSERT_OK(sender->publish(message_of("t", std::to_string(i))));
    wait_for<BusPublished>(*sender);
  }
  // The broker sends in order, so what it echoes to the sender came after what it sent to the hearer.
  ASSERT_OK(sender->subscribe("done"));
  while (hearer->counters().received + hearer->counters().dropped < 10) {
    ASSERT_OK(sender->publish(message_of("done", "x")));
    wait_for<BusReceived>(*sender);
  }
  TEST_ASSERT_EQUAL_UINT64(3, hearer->counters().received);
  TEST_ASSERT_EQUAL_UINT64(7, hearer->counters().dropped);
  for (const char* text : {"0", "1", "2"}) {
    TEST_ASSERT_EQUAL_STRING(text, text_of(wait_for<BusReceived>(*hearer).message).c_str());
  }
  ASSERT_OK(sender->publish(message_of("t", "later")));
  TEST_ASSERT_EQUAL_STRING("later", text_of(wait_for<BusReceived>(*hearer).message).c_str());
}

TEST("A topic that sends too much loses its own oldest messages, and topics take turns") {
  skip_without_broker();
  Network network;
  MqttOptions options = network.options("hearer");
  options.max_queued_messages_per_topic = 3;
  const auto hearer = connected(network, options, "t/+");
  const auto sender = connected(network, network.options("sender"));
  for (int i = 0; i < 10; ++i) {
    ASSERT_OK(sender->publish(message_of("t/flood", std::to_string(i))));
    wait_for<BusPublished>(*sender);
  }
  ASSERT_OK(sender->publish(message_of("t/quiet", "q")));
  wait_for<BusPublished>(*sender);
  ASSERT_OK(sender->subscribe("done"));
  while (hearer->counters().received < 11) {
    ASSERT_OK(sender->publish(message_of("done", "x")));
    wait_for<BusReceived>(*sender);
  }
  for (const char* text : {"7", "q", "8", "9"}) {
    TEST_ASSERT_EQUAL_STRING(text, text_of(wait_for<BusReceived>(*hearer).message).c_str());
  }
  const auto dropped = hearer->take_dropped();
  TEST_ASSERT_EQUAL_size_t(1, dropped.size());
  TEST_ASSERT_EQUAL_UINT64(7, dropped.at("t/flood"));
  TEST_ASSERT_TRUE(hearer->take_dropped().empty());
}

TEST("A bus that may wait for room reads no faster than its events are taken, and loses nothing") {
  skip_without_broker();
  Network network;
  MqttOptions options = network.options("hearer");
  options.max_queued_messages = 2;
  options.wait_for_room = std::chrono::seconds(30);
  const auto hearer = connected(network, options, "t");
  // On another thread: while the hearer waits for room, nobody in this process can publish.
  std::vector<std::string> heard;
  std::thread hearing([&] {
    while (heard.size() < 50) heard.push_back(text_of(wait_for<BusReceived>(*hearer).message));
  });
  const auto sender = connected(network, network.options("sender"));
  for (int i = 0; i < 50; ++i) {
    ASSERT_OK(sender->publish(message_of("t", std::to_string(i))));
    wait_for<BusPublished>(*sender);
  }
  hearing.join();
  for (std::size_t i = 0; i < 50; ++i) TEST_ASSERT_EQUAL_STRING(std::to_string(i).c_str(), heard[i].c_str());
  TEST_ASSERT_EQUAL_UINT64(0, hearer->counters().dropped);
}

TEST("Without a broker the bus keeps trying, and stops at once when told to") {
  QuietLog log;
  MqttOptions options;
  options.host = "127.0.0.1";
  options.port = free_loopback_port();
  options.client_id = "lonely";
  options.shortest_backoff = 1ms;
  options.longest_backoff = 2ms;
  auto bus = std::move(MqttBus::create(options, log)).value();
  ASSERT_OK(bus->start());
  for (int i = 0; i < 5; ++i) wait_for<BusDisconnected>(*bus);
  TEST_ASSERT_FALSE(bus->publish(message_of("t", "x")).ok());
  bus->wake();
  wait_for<BusWoken>(*bus);
  bus->stop();
}

TEST("An envelope in pieces gets through while the broker is killed again and again") {
  skip_without_broker();
  Network network;
  const auto gateway = connected(network, network.options("gateway"), "up");
  const auto device = connected(network, network.options("device"));
  Bytes envelope(300'000);
  for (std::size_t i = 0; i < envelope.size(); ++i) envelope[i] = static_cast<std::byte>((i * i) >> 5);
  PieceSender sender = PieceSender::create(envelope, {.body_bytes = 16'384, .window = 4}).value();
  PieceAssembler assembler;
  std::map<PublishId, std::uint16_t> on_their_way;
  int acknowledged = 0;
  int kills = 0;
  std::optional<Bytes> complete;
  const auto deadline = std::chrono::steady_clock::now() + kLong;
  while (!complete && std::chrono::steady_clock::now() < deadline) {
    while (auto piece = sender.next()) {
      const auto id = device->publish({"up", piece->message, false});
      if (!id.ok()) {
        sender.failed(piece->index);
        break;
      }
      on_their_way[*id] = piece->index;
    }
    if (auto event = device->next_event(std::chrono::steady_clock::now() + 200ms)) {
      if (const auto* done = std::get_if<BusPublished>(&*event)) {
        sender.acknowledged(on_their_way[done->id]);
        if (++acknowledged % 6 == 5 && kills < 2) {
          ++kills;
          network.broker.end(SIGKILL);
          network.broker.start();
        }
      }
      if (const auto* lost = std::get_if<BusPublishFailed>(&*event)) sender.failed(on_their_way[lost->id]);
    } else if (sender.all_acknowledged()) {
      sender.start_over();
    }
    while (auto event = gateway->next_event(std::chrono::steady_clock::now())) {
      const auto* received = std::get_if<BusReceived>(&*event);
      if (received == nullptr) continue;
      auto taken = assembler.accept("device", received->message.payload, std::chrono::steady_clock::now());
      TEST_ASSERT_TRUE(taken.ok());
      if (taken->has_value()) complete = std::move(*taken);
    }
  }
  TEST_ASSERT_EQUAL_INT(2, kills);
  TEST_ASSERT_TRUE(complete == envelope);
}

TEST("Options that make no sense are refused before anything starts") {
  QuietLog log;
  MqttOptions options;
  ASSERT_CONTAINS(message_of(MqttBus::create(options, log)), "client id is empty");
  options.client_id = "a";
  options.tls = TlsFiles{"/nonexistent/ca", "/nonexistent/crt", "/nonexistent/key"};
  ASSERT_CONTAINS(message_of(MqttBus::create(options, log)), "/nonexistent/ca is missing");
  options.tls.reset();
  options.longest_backoff = 1ms;
  ASSERT_CONTAINS(message_of(MqttBus::create(options, log)), "the shortest wait");
}

TEST("After unsubscribing nothing comes; subscribing again brings what the broker keeps") {
  skip_without_broker();
  Network network;
  const auto sender = connected(network, network.options("sender"));
  const auto hearer = connected(network, network.options("hearer"), "model");
  ASSERT_OK(hearer->subscribe("other"));
  ASSERT_OK(sender->publish(message_of("model", "one", true)));
  TEST_ASSERT_EQUAL_STRING("one", text_of(wait_for<BusReceived>(*hearer).message).c_str());
  hearer->unsubscribe("model");
  hearer->unsubscribe("never asked for");
  // Subscriptions change in order: once the broker sends what it keeps for this one, the other is gone.
  ASSERT_OK(sender->publish(message_of("last", "mark", true)));
  wait_for<BusPublished>(*sender);
  ASSERT_OK(hearer->subscribe("last"));
  TEST_ASSERT_EQUAL_STRING("mark", text_of(wait_for<BusReceived>(*hearer).message).c_str());
  ASSERT_OK(sender->publish(message_of("model", "two", true)));
  ASSERT_OK(sender->publish(message_of("other", "three")));
  TEST_ASSERT_EQUAL_STRING("three", text_of(wait_for<BusReceived>(*hearer).message).c_str());
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(hearer->subscribe("model"));
    const Message kept = wait_for<BusReceived>(*hearer).message;
    TEST_ASSERT_EQUAL_STRING("two", text_of(kept).c_str());
    TEST_ASSERT_TRUE(kept.retained);
  }
}

TEST("What is sent as best effort arrives and is kept, and only the rest is acknowledged") {
  skip_without_broker();
  Network network;
  const auto sender = connected(network, network.options("sender"));
  const auto hearer = network.bus(network.options("hearer"));
  ASSERT_OK(hearer->subscribe_if_allowed("status/+"));
  ASSERT_OK(hearer->start());
  wait_for<BusConnected>(*hearer);
  const auto publish = [&](const Message& message) {
    const auto deadline = std::chrono::steady_clock::now() + kLong;
    while (true) {  // Paho holds a bounded number of them
      const auto published = sender->publish(message);
      if (published.ok()) return *published;
      TEST_ASSERT_TRUE(std::chrono::steady_clock::now() < deadline);
      std::this_thread::yield();
    }
  };
  for (int i = 0; i < 200; ++i) {
    Message message = message_of("status/" + std::to_string(i), "so far so good", true);
    message.best_effort = true;
    publish(message);
  }
  const PublishId asked = publish(message_of("status/last", "and thanks"));
  const auto first = sender->next_event(std::chrono::steady_clock::now() + kLong);
  TEST_ASSERT_TRUE(first.has_value());
  TEST_ASSERT_EQUAL_UINT64(asked, std::get<BusPublished>(*first).id);
  for (int i = 0; i < 200; ++i) {
    const Message heard = wait_for<BusReceived>(*hearer).message;
    TEST_ASSERT_EQUAL_STRING(("status/" + std::to_string(i)).c_str(), heard.topic.c_str());
  }
  const auto late = connected(network, network.options("late"), "status/7");
  TEST_ASSERT_TRUE(wait_for<BusReceived>(*late).message.retained);
  sender->stop();
  TEST_ASSERT_FALSE(sender->publish(Message{"status/8", {}, true, true}).ok());
}
