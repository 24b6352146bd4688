#include <set>

#include "core/envelope/piece_assembler.h"
#include "gateway_server/replies/outbox.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

/// A bus that keeps what it is given until the test says what became of it.
class HandBus final : public MessageBus {
 public:
  [[nodiscard]] Status start() override { return {}; }
  [[nodiscard]] Status subscribe(const std::string&) override { return {}; }
  void unsubscribe(const std::string&) override {}
  [[nodiscard]] Result<PublishId> publish(const Message& message) override {
    offered = message.payload.data();
    if (published.size() >= room) return unavailable("no room");
    published[++last_] = message;
    return last_;
  }
  [[nodiscard]] std::optional<BusEvent> next_event(std::chrono::steady_clock::time_point) override {
    return std::nullopt;
  }
  void wake() override {}
  void stop() override {}
  [[nodiscard]] BusCounters counters() const override { return {}; }

  std::size_t room = 1000;
  const std::byte* offered = nullptr;      ///< the bytes of the last message, where the sender has them
  std::map<PublishId, Message> published;  ///< on their way

 private:
  PublishId last_ = 0;
};

Bytes envelope(std::size_t size, std::uint8_t fill) {
  return Bytes(size, std::byte{fill});
}

/// Everything on its way arrives: the messages by topic.
std::map<std::string, std::vector<Bytes>> deliver(HandBus& bus, Outbox& outbox) {
  std::map<std::string, std::vector<Bytes>> arrived;
  while (true) {
    outbox.pump();
    if (bus.published.empty()) return arrived;
    auto first = bus.published.extract(bus.published.begin());
    arrived[first.mapped().topic].push_back(std::move(first.mapped().payload));
    outbox.on_published(first.key());
  }
}

Bytes put_together(const std::vector<Bytes>& pieces) {
  PieceAssembler assembler;
  for (const Bytes& piece : pieces) {
    auto whole = assembler.accept("gateway", piece, {});
    TEST_ASSERT_TRUE(whole.ok());
    if (whole->has_value()) return **whole;
  }
  TEST_FAIL_MESSAGE("pieces are missing");
  return {};
}

}  // namespace

TEST("Envelopes leave in pieces, many at a time, and their memory is given back when the broker has them") {
  HandBus bus;
  Outbox outbox(bus, 1 << 20);
  TEST_ASSERT_TRUE(outbox.add("a", envelope(300'000, 1)));
  TEST_ASSERT_TRUE(outbox.add("b", envelope(100, 2)));
  TEST_ASSERT_EQUAL_UINT64(300'100, outbox.bytes());
  const auto arrived = deliver(bus, outbox);
  TEST_ASSERT_TRUE(put_together(arrived.at("a")) == envelope(300'000, 1));
  TEST_ASSERT_TRUE(put_together(arrived.at("b")) == envelope(100, 2));
  TEST_ASSERT_EQUAL_UINT64(0, outbox.bytes());
  TEST_ASSERT_TRUE(outbox.empty());
}

TEST("Below the bound one more reply is taken, above it none until something has left") {
  HandBus bus;
  Outbox outbox(bus, 1000);
  TEST_ASSERT_TRUE(outbox.add("a", envelope(600, 1)));
  TEST_ASSERT_FALSE(outbox.add("b", Bytes{}));
  TEST_ASSERT_TRUE(outbox.has_room());
  TEST_ASSERT_TRUE(outbox.add("c", envelope(400, 3)));
  TEST_ASSERT_FALSE(outbox.has_room());
  TEST_ASSERT_FALSE(outbox.add("d", envelope(1, 4)));
  const auto arrived = deliver(bus, outbox);
  TEST_ASSERT_EQUAL_UINT64(2, arrived.size());
  TEST_ASSERT_TRUE(outbox.add("b", envelope(2000, 2)));
}

TEST("A bus that is full is tried again, and pieces that failed go again") {
  HandBus bus;
  bus.room = 3;
  Outbox outbox(bus, 1 << 20);
  TEST_ASSERT_TRUE(outbox.add("a", envelope(300'000, 1)));
  outbox.pump();
  TEST_ASSERT_EQUAL_UINT64(3, bus.published.size());
  for (const auto& [id, message] : bus.published) outbox.on_failed(id);
  bus.published.clear();
  TEST_ASSERT_TRUE(put_together(deliver(bus, outbox).at("a")) == envelope(300'000, 1));
  TEST_ASSERT_TRUE(outbox.empty());
}

TEST("After a lost link everything that was on its way goes again, and late answers confuse nobody") {
  HandBus bus;
  Outbox outbox(bus, 1 << 20);
  TEST_ASSERT_TRUE(outbox.add("a", envelope(100'000, 1)));
  outbox.set({.topic = "status", .payload = envelope(10, 7), .retained = true});
  outbox.pump();
  const auto lost = std::exchange(bus.published, {});
  outbox.on_link_lost();
  TEST_ASSERT_FALSE(outbox.empty());
  outbox.on_published(lost.begin()->first);  // of the link before
  outbox.on_failed(lost.rbegin()->first);
  const auto arrived = deliver(bus, outbox);
  TEST_ASSERT_TRUE(put_together(arrived.at("a")) == envelope(100'000, 1));
  TEST_ASSERT_EQUAL_UINT64(1, arrived.at("status").size());
  TEST_ASSERT_TRUE(outbox.empty());
  TEST_ASSERT_EQUAL_UINT64(0, outbox.bytes());
}

TEST("Of status, metrics and model only the latest counts, before it leaves and after it failed") {
  HandBus bus;
  Outbox outbox(bus, 1000);
  outbox.set({.topic = "status", .payload = envelope(10, 1), .retained = true});
  outbox.set({.topic = "status", .payload = envelope(10, 2), .retained = true});
  outbox.pump();
  TEST_ASSERT_EQUAL_UINT64(1, bus.published.size());
  TEST_ASSERT_TRUE(bus.published.begin()->second.payload == envelope(10, 2));
  TEST_ASSERT_TRUE(bus.published.begin()->second.retained);
  const PublishId failed = bus.published.begin()->first;
  bus.published.clear();
  outbox.on_failed(failed);
  outbox.set({.topic = "metrics", .payload = envelope(10, 3), .retained = true});
  auto arrived = deliver(bus, outbox);
  TEST_ASSERT_TRUE(arrived.at("status").at(0) == envelope(10, 2));
  TEST_ASSERT_EQUAL_UINT64(1, arrived.at("metrics").size());

  outbox.set({.topic = "status", .payload = envelope(10, 4), .retained = true});
  outbox.pump();
  const PublishId older = bus.published.begin()->first;
  bus.published.clear();
  outbox.set({.topic = "status", .payload = envelope(10, 5), .retained = true});
  outbox.on_failed(older);  // it has been overtaken
  arrived = deliver(bus, outbox);
  TEST_ASSERT_EQUAL_UINT64(1, arrived.at("status").size());
  TEST_ASSERT_TRUE(arrived.at("status").at(0) == envelope(10, 5));
}

TEST("Of what is sent as best effort nobody waits to hear, and a full bus gets it later") {
  HandBus bus;
  Outbox outbox(bus, 1000);
  bus.room = 1;
  outbox.set({.topic = "a", .payload = envelope(10, 1), .retained = true, .best_effort = true});
  outbox.set({.topic = "b", .payload = envelope(10, 2), .retained = true, .best_effort = true});
  outbox.pump();
  TEST_ASSERT_EQUAL_STRING("a", bus.published.begin()->second.topic.c_str());
  TEST_ASSERT_FALSE(outbox.empty());
  bus.published.clear();
  outbox.pump();
  TEST_ASSERT_EQUAL_STRING("b", bus.published.begin()->second.topic.c_str());
  TEST_ASSERT_TRUE(outbox.empty());
  outbox.on_link_lost();
  TEST_ASSERT_TRUE(outbox.empty());
}

TEST("A message that a full bus refuses stays where it is: a large model is not copied at every attempt") {
  HandBus bus;
  bus.room = 0;
  Outbox outbox(bus, 1000);
  Message model{.topic = "model", .payload = envelope(300'000, 1), .retained = true};
  const std::byte* const bytes = model.payload.data();
  outbox.set(std::move(model));
  for (int attempt = 0; attempt < 3; ++attempt) {
    outbox.pump();
    TEST_ASSERT_TRUE(bus.offered == bytes);
  }
  bus.room = 1;
  TEST_ASSERT_TRUE(deliver(bus, outbox).at("model").at(0) == envelope(300'000, 1));
}

TEST("What goes first is on its way with all its pieces before the other begins, whatever the window") {
  HandBus bus;
  Outbox outbox(bus, 1 << 20);
  TEST_ASSERT_TRUE(outbox.add("a", envelope(100, 2), envelope(600'000, 1)));
  TEST_ASSERT_EQUAL_UINT64(600'100, outbox.bytes());
  const auto arrived = deliver(bus, outbox).at("a");
  TEST_ASSERT_TRUE(arrived.size() > 9);
  TEST_ASSERT_TRUE(put_together({arrived.back()}) == envelope(100, 2));
  TEST_ASSERT_TRUE(put_together(arrived) == envelope(600'000, 1));
  TEST_ASSERT_TRUE(outbox.empty());
}
