#include "core/envelope/piece_assembler.h"
#include "core/envelope/piece_sender.h"
#include "core/transport/in_process_broker.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace std::chrono_literals;

namespace {

Message message_of(std::string topic, std::string_view text, bool retained = false) {
  const auto bytes = std::as_bytes(std::span(text));
  return {std::move(topic), Bytes(bytes.begin(), bytes.end()), retained};
}

std::string text_of(const Message& message) {
  return {reinterpret_cast<const char*>(message.payload.data()), message.payload.size()};
}

/// All that has happened, as one line of short words.
std::string events_of(MessageBus& bus) {
  std::string line;
  while (auto event = bus.next_event({})) {
    if (std::holds_alternative<BusConnected>(*event)) line += "connected ";
    if (std::holds_alternative<BusDisconnected>(*event)) line += "disconnected ";
    if (std::holds_alternative<BusPublished>(*event)) line += "published ";
    if (std::holds_alternative<BusPublishFailed>(*event)) line += "failed ";
    if (std::holds_alternative<BusWoken>(*event)) line += "woken ";
    if (const auto* received = std::get_if<BusReceived>(&*event)) {
      line += text_of(received->message) + (received->message.retained ? "(retained) " : " ");
    }
  }
  return line;
}

void assert_events(const char* expected, MessageBus& bus) {
  TEST_ASSERT_EQUAL_STRING(expected, events_of(bus).c_str());
}

/// One envelope through a bad network: what the device needs to do, with a new round whenever all is quiet.
struct Transfer {
  Bytes envelope;
  std::unique_ptr<MessageBus> device;
  std::unique_ptr<MessageBus> gateway;
  PieceSender sender;
  PieceAssembler assembler;
  std::map<PublishId, std::uint16_t> on_their_way;
  int completed = 0;

  Transfer(InProcessBroker& broker, Bytes bytes)
      : envelope(std::move(bytes)),
        device(broker.client("device")),
        gateway(broker.client("gateway")),
        sender(PieceSender::create(envelope, {.body_bytes = 64, .window = 4}).value()) {
    ASSERT_OK(gateway->subscribe("up"));
    ASSERT_OK(gateway->start());
    ASSERT_OK(device->start());
  }

  void send() {
    while (auto piece = sender.next()) {
      const auto id = device->publish({"up", piece->message, false});
      if (!id.ok()) return sender.link_lost();
      on_their_way[*id] = piece->index;
    }
  }

  void handle_events() {
    while (auto event = device->next_event({})) {
      if (const auto* done = std::get_if<BusPublished>(&*event)) sender.acknowledged(on_their_way[done->id]);
      if (const auto* lost = std::get_if<BusPublishFailed>(&*event)) sender.failed(on_their_way[lost->id]);
    }
    while (auto event = gateway->next_event({})) {
      const auto* received = std::get_if<BusReceived>(&*event);
      if (received == nullptr) continue;
      auto taken = assembler.accept("device", received->message.payload, {});
      if (!taken.ok()) TEST_FAIL_MESSAGE(taken.error().message.c_str());
      if (!taken->has_value()) continue;
      TEST_ASSERT_TRUE(**taken == envelope);
      ++completed;
    }
  }
};

}  // namespace

TEST("A message reaches those whose filter matches, and its sender learns that the broker has it") {
  InProcessBroker broker(1);
  const auto sender = broker.client("sender");
  const auto hearer = broker.client("hearer");
  const auto other = broker.client("other");
  ASSERT_OK(hearer->subscribe("a/+"));
  ASSERT_OK(other->subscribe("b/#"));
  for (MessageBus* bus : {sender.get(), hearer.get(), other.get()}) ASSERT_OK(bus->start());
  ASSERT_OK(sender->publish(message_of("a/1", "hello")));
  broker.settle();
  assert_events("connected published ", *sender);
  assert_events("connected hello ", *hearer);
  assert_events("connected ", *other);
}

TEST("A retained message waits for newcomers; an ordinary one does not") {
  InProcessBroker broker(1);
  const auto sender = broker.client("sender");
  ASSERT_OK(sender->start());
  ASSERT_OK(sender->publish(message_of("model", "one", true)));
  ASSERT_OK(sender->publish(message_of("model", "two", true)));
  ASSERT_OK(sender->publish(message_of("event", "gone")));
  broker.settle();
  const auto late = broker.client("late");
  ASSERT_OK(late->start());
  ASSERT_OK(late->subscribe("#"));
  broker.settle();
  const std::string events = events_of(*late);
  ASSERT_CONTAINS(events, "(retained)");
  TEST_ASSERT_TRUE(events.find("gone") == std::string::npos);
}

TEST("A cut link publishes the last will, fails what was on its way, and connects again when restored") {
  InProcessBroker broker(1, {.shortest_delay = 10ms, .longest_delay = 10ms});
  const auto device = broker.client("device", LastWill{message_of("status", "lost", true)});
  const auto watcher = broker.client("watcher");
  ASSERT_OK(watcher->subscribe("status"));
  ASSERT_OK(watcher->start());
  ASSERT_OK(device->start());
  ASSERT_OK(device->publish(message_of("up", "x")));
  broker.cut("device");
  broker.settle();
  assert_events("connected failed disconnected ", *device);
  assert_events("connected lost ", *watcher);
  TEST_ASSERT_FALSE(device->publish(message_of("up", "x")).ok());
  broker.restore("device");
  assert_events("connected ", *device);
}

TEST("A client that stops leaves without its last will") {
  InProcessBroker broker(1);
  const auto device = broker.client("device", LastWill{message_of("status", "lost")});
  const auto watcher = broker.client("watcher");
  ASSERT_OK(watcher->subscribe("status"));
  ASSERT_OK(watcher->start());
  ASSERT_OK(device->start());
  device->stop();
  broker.settle();
  assert_events("connected ", *watcher);
}

TEST("A program that starts again under its name gets nothing that was meant for the one before") {
  InProcessBroker broker(1, {.shortest_delay = 10ms, .longest_delay = 10ms});
  const auto sender = broker.client("sender");
  ASSERT_OK(sender->start());
  auto first = broker.client("gateway");
  ASSERT_OK(first->subscribe("t"));
  ASSERT_OK(first->start());
  ASSERT_OK(sender->publish(message_of("t", "early")));
  broker.advance(15ms);
  first.reset();
  const auto second = broker.client("gateway");
  ASSERT_OK(second->subscribe("t"));
  ASSERT_OK(second->start());
  ASSERT_OK(sender->publish(message_of("t", "late")));
  broker.settle();
  assert_events("connected late ", *second);
}

TEST("The same seed gives the same run, with loss, repeats and overtaking") {
  const auto run = [](std::uint64_t seed) {
    InProcessBroker broker(seed,
                           {.shortest_delay = 1ms, .longest_delay = 50ms, .loss = 0.2, .duplication = 0.2});
    const auto sender = broker.client("sender");
    const auto hearer = broker.client("hearer");
    ASSERT_OK(hearer->subscribe("t"));
    ASSERT_OK(hearer->start());
    ASSERT_OK(sender->start());
    for (int i = 0; i < 50; ++i) ASSERT_OK(sender->publish(message_of("t", std::to_string(i))));
    broker.settle();
    return events_of(*hearer);
  };
  TEST_ASSERT_EQUAL_STRING(run(5).c_str(), run(5).c_str());
  TEST_ASSERT_TRUE(run(5) != run(6));
}

TEST("An envelope in pieces gets through every bad network, and is put together once per round at most") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    InProcessBroker broker(seed,
                           {.shortest_delay = 1ms, .longest_delay = 40ms, .loss = 0.2, .duplication = 0.2});
    Random random(seed, 1);
    Bytes envelope(64 + random.below(3000));
    for (std::byte& byte : envelope) byte = static_cast<std::byte>(random.next());
    Transfer transfer(broker, std::move(envelope));
    int rounds = 1;
    for (int step = 0; transfer.completed == 0 && step < 5000; ++step) {
      transfer.send();
      broker.advance(5ms);
      transfer.handle_events();
      if (random.uniform() < 0.01) broker.cut("device"), broker.restore("device");
      if (random.uniform() < 0.005) broker.crash();
      if (transfer.sender.all_acknowledged() && random.uniform() < 0.05) {
        transfer.sender.start_over();
        transfer.on_their_way.clear();
        ++rounds;
      }
    }
    TEST_ASSERT_TRUE(transfer.completed >= 1);
    broker.settle();
    transfer.handle_events();
    TEST_ASSERT_TRUE(transfer.completed <= rounds);
  }
}

TEST("After unsubscribing nothing comes; subscribing again brings what the broker keeps") {
  InProcessBroker broker(1);
  const auto sender = broker.client("sender");
  const auto hearer = broker.client("hearer");
  ASSERT_OK(hearer->subscribe("model"));
  for (MessageBus* bus : {sender.get(), hearer.get()}) ASSERT_OK(bus->start());
  ASSERT_OK(sender->publish(message_of("model", "one", true)));
  broker.settle();
  assert_events("connected one ", *hearer);
  hearer->unsubscribe("model");
  hearer->unsubscribe("never asked for");
  ASSERT_OK(sender->publish(message_of("model", "two", true)));
  broker.settle();
  assert_events("", *hearer);
  ASSERT_OK(hearer->subscribe("model"));
  broker.settle();
  assert_events("two(retained) ", *hearer);
  ASSERT_OK(hearer->subscribe("model"));
  broker.settle();
  assert_events("two(retained) ", *hearer);
}
