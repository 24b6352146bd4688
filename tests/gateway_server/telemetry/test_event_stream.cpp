#include "gateway_server/telemetry/event_stream.h"
#include "tests/gateway_server/judging/fake_parts.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

struct Bench {
  SteppedClock clock;
  std::vector<std::string> sent;
  bool connected = true;
  EventStream events{[this](std::string json) {
                       if (connected) sent.push_back(std::move(json));
                       return connected;
                     },
                     clock};
};

}  // namespace

TEST("Events go as they come while there are few") {
  Bench bench;
  for (int i = 0; i < 100; ++i) {
    bench.events.tell("rejected", "pi-1", "too-far");
    bench.clock.advance(std::chrono::milliseconds(60));
  }
  bench.events.tell_muted();
  TEST_ASSERT_EQUAL_size_t(100, bench.sent.size());
  ASSERT_CONTAINS(bench.sent[0], R"("kind":"rejected","device":"pi-1","text":"too-far")");
}

TEST("A flood is cut to the rate in every second, and what was left out is told as a number") {
  Bench bench;
  for (int i = 0; i < 5000; ++i) {  // ten seconds
    bench.events.tell("rejected", "pi-1", "too-far");
    bench.clock.advance(std::chrono::milliseconds(2));
    bench.events.tell_muted();
    const std::size_t seconds = static_cast<std::size_t>(i + 1) / 500 + 1;  // that have begun
    TEST_ASSERT_LESS_OR_EQUAL_size_t(EventStream::kPerSecond * seconds, bench.sent.size());
  }
  std::size_t told = 0;
  std::size_t muted = 0;
  for (const std::string& event : bench.sent) {
    const auto at = event.find(" events were left out");
    if (at == std::string::npos) {
      ++told;
    } else {
      muted += std::stoul(event.substr(event.rfind('"', at) + 1));
    }
  }
  TEST_ASSERT_TRUE(told >= 150);
  bench.clock.advance(std::chrono::seconds(2));
  const std::size_t before = bench.sent.size();
  bench.events.tell_muted();
  if (bench.sent.size() > before) {
    const std::string& last = bench.sent.back();
    const auto at = last.find(" events were left out");
    muted += std::stoul(last.substr(last.rfind('"', at) + 1));
  }
  TEST_ASSERT_EQUAL_size_t(5000, told + muted);
}

TEST("What happens while there is no broker is counted as left out") {
  Bench bench;
  bench.connected = false;
  for (int i = 0; i < 7; ++i) bench.events.tell("lost", "pi-1", "");
  bench.events.tell_muted();
  bench.connected = true;
  bench.events.tell_muted();
  TEST_ASSERT_EQUAL_size_t(1, bench.sent.size());
  ASSERT_CONTAINS(bench.sent[0], R"("kind":"muted","text":"7 events were left out")");
}
