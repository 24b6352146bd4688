#include <set>

#include "edge_client/sending/outgoing_update.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;
using namespace std::chrono_literals;

namespace {

constexpr OutgoingUpdate::Time kStart{1000s};
constexpr AnswerTimeouts kTimeout{10s, 40s};

/// A bus that keeps what is handed over and says what it is told to.
class HeldBus final : public MessageBus {
 public:
  [[nodiscard]] Status start() override { return {}; }
  [[nodiscard]] Status subscribe(const std::string&) override { return {}; }
  void unsubscribe(const std::string&) override {}
  [[nodiscard]] Result<PublishId> publish(const Message& message) override {
    if (full) return unavailable("full");
    messages.push_back(message);
    return messages.size();
  }
  [[nodiscard]] std::optional<BusEvent> next_event(std::chrono::steady_clock::time_point) override {
    return {};
  }
  void wake() override {}
  void stop() override {}
  [[nodiscard]] BusCounters counters() const override { return {}; }

  [[nodiscard]] PieceHeader header(std::size_t i) const { return read_piece(messages.at(i).payload)->header; }
  std::vector<Message> messages;
  bool full = false;
};

OutgoingUpdate update_of(std::size_t bytes) {
  return std::move(OutgoingUpdate::create(17, Bytes(bytes, std::byte{1}), 500, kTimeout, 1)).value();
}

/// Everything is sent and acknowledged.
void deliver_all(OutgoingUpdate& update, HeldBus& bus, std::size_t from = 0) {
  for (std::size_t i = from;; ++i) {
    update.send(bus, "t");
    if (i >= bus.messages.size()) return;
    update.published(i + 1, kStart);
  }
}

}  // namespace

TEST("Pieces leave as the window allows, and acknowledgements make room") {
  HeldBus bus;
  OutgoingUpdate update = update_of(20 * kDefaultPieceBody);
  update.send(bus, "t");
  TEST_ASSERT_EQUAL_size_t(4, bus.messages.size());
  update.published(1, kStart);
  update.send(bus, "t");
  TEST_ASSERT_EQUAL_size_t(5, bus.messages.size());
  TEST_ASSERT_TRUE(update.due() == OutgoingUpdate::kNever);
}

TEST("When all is acknowledged and no verdict comes, everything goes again, with growing waits") {
  HeldBus bus;
  OutgoingUpdate update = update_of(2 * kDefaultPieceBody);
  deliver_all(update, bus);
  TEST_ASSERT_EQUAL_size_t(2, bus.messages.size());
  const auto first_wait = update.due() - kStart;
  TEST_ASSERT_TRUE(first_wait >= 5s && first_wait <= 10s);
  TEST_ASSERT_FALSE(update.start_over_when_due(update.due() - 1ms));
  TEST_ASSERT_TRUE(update.start_over_when_due(update.due()));
  deliver_all(update, bus, 2);
  TEST_ASSERT_EQUAL_size_t(4, bus.messages.size());
  TEST_ASSERT_EQUAL_UINT16(500, bus.header(0).round);
  TEST_ASSERT_EQUAL_UINT16(501, bus.header(2).round);
  TEST_ASSERT_EQUAL_UINT64(bus.header(0).transfer, bus.header(2).transfer);
  const auto second_wait = update.due() - kStart;
  TEST_ASSERT_TRUE(second_wait >= 10s && second_wait <= 20s);
}

TEST("After a broken link only what was not acknowledged goes again") {
  HeldBus bus;
  OutgoingUpdate update = update_of(4 * kDefaultPieceBody);
  update.send(bus, "t");
  update.published(2, kStart);
  update.link_lost();
  update.failed(1);
  update.connected(kStart);
  update.send(bus, "t");
  std::set<std::uint16_t> again;
  for (std::size_t i = 4; i < bus.messages.size(); ++i) again.insert(bus.header(i).index);
  TEST_ASSERT_TRUE(again == (std::set<std::uint16_t>{0, 2, 3}));
}

TEST("A verdict may have been lost with the link, so after a reconnect it is asked for soon") {
  HeldBus bus;
  OutgoingUpdate update = update_of(100);
  deliver_all(update, bus);
  update.link_lost();
  update.connected(kStart + 1s);
  TEST_ASSERT_TRUE(update.due() <= kStart + 3s);
}

TEST("An acknowledgement of an earlier round says nothing about the new one") {
  HeldBus bus;
  OutgoingUpdate update = update_of(100);
  deliver_all(update, bus);
  TEST_ASSERT_TRUE(update.start_over_when_due(update.due()));
  update.published(1, kStart);
  TEST_ASSERT_TRUE(update.due() == OutgoingUpdate::kNever);
  update.send(bus, "t");
  TEST_ASSERT_EQUAL_size_t(2, bus.messages.size());
}

TEST("What the bus does not take now is offered again") {
  HeldBus bus;
  OutgoingUpdate update = update_of(100);
  bus.full = true;
  update.send(bus, "t");
  bus.full = false;
  update.send(bus, "t");
  TEST_ASSERT_EQUAL_size_t(1, bus.messages.size());
}

TEST("A held update sends nothing more, and all of it in a new round when its time has come") {
  HeldBus bus;
  OutgoingUpdate update = update_of(20 * kDefaultPieceBody);
  update.send(bus, "t");
  update.hold(kStart, 7s);
  update.published(1, kStart);
  update.send(bus, "t");
  update.link_lost();
  update.connected(kStart + 1s);
  update.send(bus, "t");
  TEST_ASSERT_EQUAL_size_t(4, bus.messages.size());
  TEST_ASSERT_TRUE(update.held() && update.due() == kStart + 7s);
  TEST_ASSERT_FALSE(update.start_over_when_due(kStart + 7s - 1ms));
  TEST_ASSERT_TRUE(update.start_over_when_due(kStart + 7s));
  TEST_ASSERT_FALSE(update.held());
  TEST_ASSERT_EQUAL_UINT64(1, update.fruitless_sends());
  update.send(bus, "t");
  TEST_ASSERT_EQUAL_UINT16(0, bus.header(4).index);
  TEST_ASSERT_EQUAL_UINT16(501, bus.header(4).round);
}

TEST(
    "An update that is held without a time goes again after one of the growing waits, or when it may "
    "sooner") {
  HeldBus bus;
  OutgoingUpdate update = update_of(100);
  deliver_all(update, bus);
  update.hold(kStart, 0s);
  TEST_ASSERT_TRUE(update.due() >= kStart + 5s && update.due() <= kStart + 20s);
  update.hold_no_longer(kStart + 1s);
  TEST_ASSERT_TRUE(update.start_over_when_due(kStart + 1s));
  update.hold_no_longer(kStart + 2s);  // it is not held
  TEST_ASSERT_TRUE(update.due() == OutgoingUpdate::kNever);
}

TEST("While pieces of an answer arrive nothing goes again, and soon after the last one everything does") {
  HeldBus bus;
  OutgoingUpdate update = update_of(10);
  deliver_all(update, bus);
  auto now = kStart;
  for (int piece = 0; piece < 100; ++piece) {  // far longer than the longest wait
    now += 9s;
    update.answer_arrives(now);
    TEST_ASSERT_FALSE(update.start_over_when_due(now + 9s));
  }
  TEST_ASSERT_TRUE(update.start_over_when_due(now + 10s));
  update.hold(now, 60s);
  update.answer_arrives(now + 55s);
  TEST_ASSERT_TRUE(update.due() == now + 60s);
}
