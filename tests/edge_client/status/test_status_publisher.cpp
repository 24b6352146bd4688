#include <memory>
#include <string>
#include <vector>

#include "core/transport/in_process_broker.h"
#include "edge_client/status/status_publisher.h"
#include "tests/edge_client/broker_clock.h"
#include "tests/edge_client/kept_log.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;
using namespace aflguard::testing;
using namespace std::chrono_literals;

namespace {

const Activity kTakesPart{true, ""};

/// A device that is connected to a broker, and the operator who reads its statuses.
struct Desk {
  Desk() {
    ASSERT_OK(reader->subscribe("up/pi-1/status"));
    ASSERT_OK(reader->start());
    ASSERT_OK(bus->start());
    broker.settle();
    options.device = "pi-1";
    options.software = "test";
    options.topic = "up/pi-1/status";
  }

  StatusPublisher& publisher() {
    if (!made) made = std::make_unique<StatusPublisher>(options, *bus, clock, log, [this] { return board; });
    return *made;
  }
  /// One step of the device; when it wants the next one, in virtual time from now on.
  std::chrono::microseconds step(const Activity& activity = kTakesPart) {
    const auto next = publisher().publish_when_due(clock.steady(), activity);
    const auto from_now = std::chrono::duration_cast<std::chrono::microseconds>(next - clock.steady());
    broker.settle();
    return from_now;
  }
  /// Statuses since the last call.
  std::vector<std::string> read() {
    std::vector<std::string> statuses;
    while (auto event = reader->next_event({})) {
      const auto* received = std::get_if<BusReceived>(&*event);
      if (received == nullptr) continue;
      const Bytes& payload = received->message.payload;
      statuses.emplace_back(reinterpret_cast<const char*>(payload.data()), payload.size());
    }
    return statuses;
  }
  std::string read_one() {
    const auto statuses = read();
    TEST_ASSERT_EQUAL_size_t(1, statuses.size());
    return statuses.front();
  }

  InProcessBroker broker{1};
  BrokerClock clock{broker};
  KeptLog log;
  BoardReadings board;
  StatusOptions options;
  std::unique_ptr<MessageBus> reader = broker.client("operator");
  std::unique_ptr<MessageBus> bus = broker.client("pi-1");
  std::unique_ptr<StatusPublisher> made;
};

}  // namespace

TEST("The first status goes at once, retained, and the next at the interval") {
  Desk desk;
  desk.board.temperature_c = 51.5;
  TEST_ASSERT_TRUE(desk.step() == 30s);
  const std::string status = desk.read_one();
  ASSERT_CONTAINS(status, R"("state":"training","device":"pi-1")");
  ASSERT_CONTAINS(status, R"("software":"test")");
  ASSERT_CONTAINS(status, R"("temperature_c":51.5)");
  desk.broker.advance(29s);
  TEST_ASSERT_TRUE(desk.step() == 1s);
  TEST_ASSERT_TRUE(desk.read().empty());
  desk.broker.advance(1s);
  TEST_ASSERT_TRUE(desk.step() == 30s);
  TEST_ASSERT_EQUAL_size_t(1, desk.read().size());
  ASSERT_OK(desk.reader->subscribe("up/pi-1/status"));
  desk.broker.settle();
  TEST_ASSERT_EQUAL_size_t_MESSAGE(1, desk.read().size(), "the broker keeps the latest");
}

TEST("Another state or message waits for a second at most, other figures for ten") {
  Desk desk;
  desk.step();
  (void)desk.read_one();
  desk.publisher().model_taken(7);
  desk.publisher().judged(false, "too-far", 3);
  TEST_ASSERT_TRUE(desk.step() == 10s);
  TEST_ASSERT_TRUE(desk.step({false, "quiet hours"}) == 1s);
  TEST_ASSERT_TRUE(desk.read().empty());
  desk.broker.advance(1s);
  TEST_ASSERT_TRUE(desk.step({false, "quiet hours"}) == 30s);
  const std::string status = desk.read_one();
  ASSERT_CONTAINS(status, R"("state":"ready")");
  ASSERT_CONTAINS(status, R"("message":"quiet hours")");
  ASSERT_CONTAINS(status, R"("version":7)");
  ASSERT_CONTAINS(status,
                  R"("verdict":{"accepted":false,"reason":"too-far","delay":3},"accepted":0,"rejected":1)");
}

TEST("On a new connection the status goes at once, whatever the last one said") {
  Desk desk;
  desk.step();
  (void)desk.read_one();
  desk.publisher().connected();
  desk.step();
  (void)desk.read_one();
}

TEST("A status that the bus did not take is tried again with the next step") {
  Desk desk;
  desk.broker.cut("pi-1");
  desk.step();
  TEST_ASSERT_TRUE(desk.read().empty());
  desk.broker.restore("pi-1");
  desk.broker.settle();
  desk.step();
  (void)desk.read_one();
}

TEST("The latest update's figures are in the status, counts since the start too") {
  Desk desk;
  desk.publisher().sending(17);
  desk.publisher().trained(0.5, 32);
  for (int i = 0; i < 3; ++i) desk.publisher().judged(i > 0, "accepted", 0);
  desk.step();
  const std::string status = desk.read_one();
  ASSERT_CONTAINS(status, R"("sequence":17)");
  ASSERT_CONTAINS(status, R"("accepted":2,"rejected":1,"refused":0)");
  ASSERT_CONTAINS(status, R"("loss":0.5,"samples":32)");
  TEST_ASSERT_EQUAL_UINT64(2, desk.publisher().status().accepted.value());
}

TEST("An alert is the state and the message until it is cleared, the first kind first; each is logged once") {
  Desk desk;
  StatusPublisher& publisher = desk.publisher();
  publisher.raise(Alert::kTraining, "training failed");
  publisher.raise(Alert::kTraining, "training failed");
  publisher.raise(Alert::kSpool, "the disk is full");
  TEST_ASSERT_EQUAL_STRING("training failed\nthe disk is full\n", desk.log.text.c_str());
  desk.step({true, "quiet hours"});
  ASSERT_CONTAINS(desk.read_one(), R"("state":"alert")");
  TEST_ASSERT_EQUAL_STRING("the disk is full", publisher.status().message.c_str());
  publisher.clear(Alert::kSpool);
  desk.broker.advance(1s);
  desk.step();
  TEST_ASSERT_EQUAL_STRING("training failed", publisher.status().message.c_str());
  publisher.clear(Alert::kTraining);
  desk.broker.advance(1s);
  desk.step();
  TEST_ASSERT_TRUE(publisher.status().state == DeviceState::kTraining && publisher.status().message.empty());
}

TEST("A certificate is announced two weeks before its end, and is an alert after it") {
  Desk desk;
  desk.options.certificate_until = desk.clock.wall() + 15 * 24h;
  StatusPublisher& publisher = desk.publisher();
  desk.step();
  TEST_ASSERT_TRUE(publisher.status().message.empty());
  desk.clock.jump = 25h;
  publisher.check_certificate();
  desk.broker.advance(1s);
  desk.step();
  ASSERT_CONTAINS(publisher.status().message, "the certificate ends at");
  TEST_ASSERT_TRUE(publisher.status().state == DeviceState::kTraining);
  desk.clock.jump = 16 * 24h;
  publisher.check_certificate();
  desk.broker.advance(1s);
  desk.step();
  TEST_ASSERT_TRUE(publisher.status().state == DeviceState::kAlert);
  ASSERT_CONTAINS(desk.log.text, "the certificate ended at");
}

TEST("Refused messages are all counted, and one line in ten seconds says how many there were") {
  Desk desk;
  for (int i = 0; i < 1000; ++i) desk.publisher().refused("unknown-key", "key 17 is not registered here");
  TEST_ASSERT_EQUAL_STRING("message refused (unknown-key): key 17 is not registered here\n",
                           desk.log.text.c_str());
  desk.broker.advance(10s);
  desk.publisher().refused("malformed", "no piece at all");
  ASSERT_CONTAINS(desk.log.text,
                  "message refused (malformed): no piece at all, and 999 more since the last one");
  TEST_ASSERT_EQUAL_UINT64(1001, desk.publisher().status().refused.value());
}

TEST("The goodbye is said when the broker has it, or cannot have it any more") {
  Desk desk;
  StatusPublisher& publisher = desk.publisher();
  TEST_ASSERT_TRUE_MESSAGE(publisher.goodbye_said(), "nobody waits for one that was never begun");
  publisher.say_goodbye();
  TEST_ASSERT_FALSE(publisher.goodbye_said());
  publisher.publish_ended(12345);
  TEST_ASSERT_FALSE(publisher.goodbye_said());
  desk.broker.settle();
  while (auto event = desk.bus->next_event({})) {
    if (const auto* published = std::get_if<BusPublished>(&*event)) publisher.publish_ended(published->id);
  }
  TEST_ASSERT_TRUE(publisher.goodbye_said());
  ASSERT_CONTAINS(desk.read_one(), R"("state":"disconnected")");
  desk.broker.cut("pi-1");
  publisher.say_goodbye();
  TEST_ASSERT_TRUE_MESSAGE(publisher.goodbye_said(), "without a link there is nothing to wait for");
}
