#include "gateway_server/history/fleet_history.h"
#include "gateway_server/store/sqlite_history.h"
#include "gateway_server/store/sqlite_store.h"
#include "tests/gateway_server/judging/fake_parts.h"
#include "tests/gateway_server/judging/happenings.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

/// The history of a store in a file.
struct Bench {
  TemporaryFolder folder;
  KeptLog log;
  SetClock clock;
  std::unique_ptr<SqliteStore> store =
      SqliteStore::open(
          {.file = folder / "gateway.db", .fleet = "orchard", .model_hash = "ab", .guard = "asyncsgd"})
          .value();
  Happenings<int> wakes;
  FleetHistory history{SqliteHistory::open(folder / "gateway.db").value(), folder.path(),
                       [this] { wakes.add(1); }, clock, log};

  [[nodiscard]] std::int64_t now_ms() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(clock.wall().time_since_epoch()).count();
  }
  void accept_one() {
    JudgedUpdate update;
    update.id = 1;
    update.device = "pi-1";
    update.verdict.accepted = true;
    history.add(update);
  }
  [[nodiscard]] std::vector<FleetPoint> stored() const {
    auto reader = SqliteHistory::open(folder / "gateway.db").value();
    return reader->fleet(0, 0, now_ms() + 60'000).value();
  }
};

Bytes question_at(std::int64_t now_ms) {
  const std::string text = R"({"schema":"aflguard-history-question-1","id":"q","series":"fleet","from_ms":)" +
                           std::to_string(now_ms - 3'600'000) + R"(,"to_ms":)" +
                           std::to_string(now_ms + 60'000) + R"(,"points":500})";
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST("A step is stored when the clock enters the next, and a question wakes its asker with the answer") {
  Bench bench;
  bench.history.close_step({.version = 3, .accepted = 10});
  bench.accept_one();
  bench.clock.set(bench.clock.wall() + std::chrono::seconds(10));
  bench.history.close_step({.version = 4, .accepted = 11});
  TEST_ASSERT_FALSE(bench.history.next_answer().has_value());
  bench.history.ask("operator", question_at(bench.now_ms()));
  (void)bench.wakes.wait_for(1);
  const auto answer = bench.history.next_answer();
  TEST_ASSERT_TRUE(answer.has_value());
  TEST_ASSERT_EQUAL_STRING("operator", answer->viewer.c_str());
  ASSERT_CONTAINS(answer->json, "\"id\":\"q\"");
  TEST_ASSERT_FALSE(bench.history.next_answer().has_value());
  const auto points = bench.stored();
  TEST_ASSERT_EQUAL_size_t(1, points.size());
  TEST_ASSERT_EQUAL_UINT64(1, points[0].accepted);
  TEST_ASSERT_EQUAL_UINT64(4, points[0].version);
}

TEST("The running step is stored at the end, once") {
  Bench bench;
  bench.history.close_step({.version = 3, .accepted = 10});
  bench.accept_one();
  bench.history.stop({.version = 4, .accepted = 11});
  bench.history.stop({.version = 4, .accepted = 11});
  const auto points = bench.stored();
  TEST_ASSERT_EQUAL_size_t(1, points.size());
  TEST_ASSERT_EQUAL_UINT64(1, points[0].accepted);
  TEST_ASSERT_TRUE(bench.log.lines().empty());
}
