#include <condition_variable>
#include <nlohmann/json.hpp>  // before Unity, which defines isnan and isinf

#include "gateway_server/history/history_thread.h"
#include "gateway_server/store/sqlite_history.h"
#include "gateway_server/store/sqlite_store.h"
#include "tests/gateway_server/judging/fake_parts.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;
using nlohmann::json;

namespace {

constexpr std::chrono::seconds kLong(60);

struct HistoryBench {
  TemporaryFolder folder;
  KeptLog log;
  SystemClock clock;
  std::unique_ptr<SqliteStore> store =
      SqliteStore::open(
          {.file = folder / "gateway.db", .fleet = "orchard", .model_hash = "ab", .guard = "asyncsgd"})
          .value();
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::pair<std::string, json>> told;
  std::int64_t now_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(clock.wall().time_since_epoch()).count();
  HistoryThread history{SqliteHistory::open(folder / "gateway.db").value(), folder.path(),
                        [this](const std::string& viewer, const std::string& text) {
                          const std::lock_guard lock(mutex);
                          told.emplace_back(viewer, json::parse(text));
                          changed.notify_all();
                        },
                        clock, log};

  void ask(const std::string& viewer, const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    history.ask(viewer, Bytes(bytes.begin(), bytes.end()));
  }
  void ask_fleet(const std::string& viewer, const std::string& id) {
    ask(viewer, json({{"schema", "aflguard-history-question-1"},
                      {"id", id},
                      {"series", "fleet"},
                      {"from_ms", now_ms - 3'600'000},
                      {"to_ms", now_ms + 60'000},
                      {"points", 500}})
                    .dump());
  }
  /// All messages, as soon as there are that many.
  [[nodiscard]] std::vector<std::pair<std::string, json>> wait_for(std::size_t count) {
    std::unique_lock lock(mutex);
    TEST_ASSERT_TRUE(changed.wait_for(lock, kLong, [&] { return told.size() >= count; }));
    return told;
  }
};

}  // namespace

TEST("A question is answered with what has happened up to now, to the one who asked") {
  HistoryBench bench;
  const std::int64_t step = step_begin(bench.now_ms, 10'000);
  bench.history.add({{step - 10'000, 7, 3, 1, 0, 4, 0.25}, {}});
  bench.ask_fleet("operator", "q");
  const auto told = bench.wait_for(1);
  TEST_ASSERT_EQUAL_STRING("operator", told[0].first.c_str());
  const json& answer = told[0].second;
  TEST_ASSERT_EQUAL_STRING("q", answer.at("id").get<std::string>().c_str());
  TEST_ASSERT_EQUAL_size_t(1, answer.at("points").size());
  TEST_ASSERT_EQUAL_INT(3, answer.at("points")[0][2].get<int>());
  TEST_ASSERT_EQUAL_DOUBLE(0.4, answer.at("points")[0][5].get<double>());
}

TEST("What cannot be answered is told with the reason") {
  HistoryBench bench;
  bench.ask("operator", "no question");
  bench.ask("operator", std::string(100'000, 'x'));
  bench.ask("operator",
            R"({"schema":"aflguard-history-question-1","id":"d","series":"device","device":"pi-9",)"
            R"("from_ms":1,"to_ms":2,"points":1})");
  const auto told = bench.wait_for(3);
  ASSERT_CONTAINS(told[0].second.at("error").get<std::string>(), "one JSON object");
  ASSERT_CONTAINS(told[1].second.at("error").get<std::string>(), "over the limit of 1024");
  ASSERT_CONTAINS(told[2].second.at("error").get<std::string>(), "no update of a device 'pi-9'");
  TEST_ASSERT_EQUAL_STRING("d", told[2].second.at("id").get<std::string>().c_str());
}

TEST("Who asks too much is told so, and others are answered") {
  HistoryBench bench;
  for (std::size_t i = 0; i < 20; ++i) {
    bench.ask_fleet("eager", "x");
    (void)bench.wait_for(i + 1);
  }
  bench.ask_fleet("eager", "too much");
  bench.ask_fleet("patient", "y");
  const auto told = bench.wait_for(22);
  for (std::size_t i = 0; i < 20; ++i) TEST_ASSERT_FALSE(told[i].second.contains("error"));
  ASSERT_CONTAINS(told[20].second.at("error").get<std::string>(), "more than 20 questions in 10 seconds");
  TEST_ASSERT_EQUAL_STRING("too much", told[20].second.at("id").get<std::string>().c_str());
  TEST_ASSERT_TRUE(told[21].first == "patient" && !told[21].second.contains("error"));
}

TEST("What was not written yet is written when the gateway stops") {
  HistoryBench bench;
  bench.history.add({{step_begin(bench.now_ms, 10'000), 7, 3, 1, 0, 4, {}}, {}});
  bench.history.stop();
  auto telemetry = SqliteHistory::open(bench.folder / "gateway.db").value();
  TEST_ASSERT_EQUAL_size_t(1, telemetry->fleet(0, 0, bench.now_ms + 10'000)->size());
  TEST_ASSERT_TRUE(bench.log.lines().empty());
}
