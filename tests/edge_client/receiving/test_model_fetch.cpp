#include <memory>
#include <string>

#include "core/transport/in_process_broker.h"
#include "edge_client/receiving/model_fetch.h"
#include "tests/edge_client/broker_clock.h"
#include "tests/edge_client/kept_log.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;
using namespace aflguard::testing;
using namespace std::chrono_literals;

namespace {

using Time = ModelFetch::Time;

ModelMessage model_of(std::uint64_t version) {
  ModelMessage model;
  model.version = version;
  model.vector = {1, 2, 3};
  return model;
}

/// A device and a gateway around a broker; the gateway's messages are a version in digits.
struct FetchDesk {
  FetchDesk() {
    ASSERT_OK(gateway->start());
    ASSERT_OK(device->start());
    broker.settle();
  }

  void publish(std::uint64_t version) {
    const std::string text = std::to_string(version);
    const auto bytes = std::as_bytes(std::span(text));
    ASSERT_OK(gateway->publish({"model", Bytes(bytes.begin(), bytes.end()), true}));
  }
  /// What comes is offered; the number of messages.
  int receive() {
    broker.settle();
    int messages = 0;
    while (auto event = device->next_event({})) {
      const auto* received = std::get_if<BusReceived>(&*event);
      if (received == nullptr) continue;
      ++messages;
      const Bytes& payload = received->message.payload;
      fetch.offer(
          model_of(std::stoull(std::string(reinterpret_cast<const char*>(payload.data()), payload.size()))));
    }
    return messages;
  }
  [[nodiscard]] std::uint64_t version() const { return fetch.model() ? fetch.model()->version : 0; }
  [[nodiscard]] Time now() const { return clock.steady(); }

  InProcessBroker broker{1};
  BrokerClock clock{broker};
  KeptLog log;
  std::unique_ptr<MessageBus> gateway = broker.client("gateway");
  std::unique_ptr<MessageBus> device = broker.client("pi-1");
  ModelFetch fetch{{.answer = 20s, .age = 30s}, "model", *device, clock, log};
};

}  // namespace

TEST("Asking brings the model that the broker keeps; after the answer no more come") {
  FetchDesk desk;
  desk.publish(7);
  desk.fetch.ask(0);
  TEST_ASSERT_TRUE(desk.fetch.asking());
  TEST_ASSERT_EQUAL_INT(1, desk.receive());
  TEST_ASSERT_EQUAL_UINT64(7, desk.version());
  TEST_ASSERT_FALSE(desk.fetch.asking());
  desk.publish(8);
  TEST_ASSERT_EQUAL_INT(0, desk.receive());
  TEST_ASSERT_EQUAL_UINT64(7, desk.version());
  ASSERT_CONTAINS(desk.log.text, "model version 7");
}

TEST("A model that is older than what was asked for does not answer; the newer one that follows does") {
  FetchDesk desk;
  desk.publish(7);
  desk.fetch.ask(8);
  TEST_ASSERT_EQUAL_INT(1, desk.receive());
  TEST_ASSERT_TRUE(desk.fetch.asking() && !desk.fetch.model());
  desk.publish(9);
  TEST_ASSERT_EQUAL_INT(1, desk.receive());
  TEST_ASSERT_EQUAL_UINT64(9, desk.version());
}

TEST("What arrives when nobody asks any more changes nothing") {
  FetchDesk desk;
  TEST_ASSERT_FALSE(desk.fetch.offer(model_of(3)));
  TEST_ASSERT_FALSE(desk.fetch.model().has_value());
}

TEST("Without a model, waiting has no end, and the question is asked") {
  FetchDesk desk;
  TEST_ASSERT_TRUE(desk.fetch.wait(desk.now()) == Time::max());
  TEST_ASSERT_TRUE(desk.fetch.asking());
  desk.broker.advance(3600s);
  TEST_ASSERT_TRUE(desk.fetch.wait(desk.now()) == Time::max());
  desk.publish(1);
  TEST_ASSERT_EQUAL_INT(1, desk.receive());
  TEST_ASSERT_FALSE(desk.fetch.wait(desk.now()).has_value());
}

TEST("With a model at hand, a question without an answer is waited for until its timeout") {
  FetchDesk desk;
  desk.fetch.take(model_of(7));
  desk.fetch.newest_is(8);
  TEST_ASSERT_TRUE(desk.fetch.wait(desk.now()) == desk.now() + 20s);
  desk.broker.advance(19s);
  TEST_ASSERT_TRUE(desk.fetch.wait(desk.now()) == desk.now() + 1s);
  desk.broker.advance(1s);
  TEST_ASSERT_FALSE_MESSAGE(desk.fetch.wait(desk.now()).has_value(), "the one at hand will do");
  TEST_ASSERT_TRUE_MESSAGE(desk.fetch.asking(), "the answer may still come");
  desk.publish(8);
  desk.receive();
  TEST_ASSERT_EQUAL_UINT64(8, desk.version());
}

TEST("On a new connection the newest model is asked for once, and the timeout begins there") {
  FetchDesk desk;
  desk.fetch.take(model_of(7));
  desk.fetch.ask_for_newest();
  desk.broker.advance(15s);
  desk.fetch.ask_for_newest();
  TEST_ASSERT_TRUE(desk.fetch.wait(desk.now()) == desk.now() + 5s);
  desk.fetch.connected();
  TEST_ASSERT_TRUE(desk.fetch.wait(desk.now()) == desk.now() + 20s);
  TEST_ASSERT_FALSE(desk.fetch.offer(model_of(6)));
  TEST_ASSERT_TRUE(desk.fetch.offer(model_of(7)));
}

TEST("A model is asked for again when it is old, and a verdict that names it makes it new") {
  FetchDesk desk;
  desk.fetch.take(model_of(7));
  desk.broker.advance(30s);
  TEST_ASSERT_FALSE(desk.fetch.ask_again_when_old(desk.now()).has_value());
  desk.broker.advance(1s);
  desk.fetch.newest_is(7);
  TEST_ASSERT_FALSE(desk.fetch.asking());
  TEST_ASSERT_FALSE(desk.fetch.ask_again_when_old(desk.now()).has_value());
  desk.broker.advance(31s);
  TEST_ASSERT_TRUE(desk.fetch.ask_again_when_old(desk.now()) == desk.now() + 20s);
  TEST_ASSERT_TRUE(desk.fetch.asking());
  TEST_ASSERT_FALSE_MESSAGE(desk.fetch.ask_again_when_old(desk.now()).has_value(), "one question at a time");
}

TEST("A gateway that went back is believed: the newer model at hand is dropped") {
  FetchDesk desk;
  desk.fetch.take(model_of(100));
  desk.fetch.newest_is(40);
  TEST_ASSERT_FALSE(desk.fetch.model().has_value());
  desk.publish(40);
  desk.receive();
  TEST_ASSERT_EQUAL_UINT64(40, desk.version());
}

TEST("A model that comes with a verdict answers the question too") {
  FetchDesk desk;
  desk.fetch.ask(5);
  desk.fetch.take(model_of(5));
  TEST_ASSERT_FALSE(desk.fetch.asking());
  desk.publish(6);
  TEST_ASSERT_EQUAL_INT(0, desk.receive());
}
