#include <thread>

#include "core/sqlite/sqlite_database.h"
#include "gateway_server/store/sqlite_history.h"
#include "gateway_server/store/sqlite_store.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

constexpr std::int64_t kBegin = 1'769'860'800'000;  // the beginning of a day

struct Bench {
  TemporaryFolder folder;
  std::unique_ptr<SqliteStore> store =
      SqliteStore::open(
          {.file = folder / "gateway.db", .fleet = "orchard", .model_hash = "ab", .guard = "asyncsgd"})
          .value();
  std::unique_ptr<SqliteHistory> telemetry = SqliteHistory::open(folder / "gateway.db").value();

  void commit(std::uint64_t iteration, std::size_t devices) {
    std::vector<DeviceRecord> records;
    for (std::size_t i = 1; i <= devices; ++i) records.push_back({i, "pi-" + std::to_string(i), {}, 0, 0, 0});
    const Bytes state(1000);
    const std::vector<VerdictRecord> verdicts = {{iteration, 1, iteration, {}, 0, 0, 0}};
    ASSERT_OK(store->commit({verdicts, records, iteration, iteration, state}));
  }
};

HistoryBatch batch(std::int64_t time_ms, std::size_t devices) {
  HistoryBatch made;
  made.fleet = {time_ms, static_cast<std::uint64_t>(time_ms / 1000), 3, 1, 2, 8, {}};
  for (std::size_t i = 1; i <= devices; ++i) made.devices.push_back({time_ms, i, 2, 1, 4, 3, 6, 9});
  return made;
}

}  // namespace

TEST("Ten seconds add up to five minutes and to an hour") {
  Bench bench;
  std::vector<HistoryBatch> hour;
  for (std::int64_t i = 0; i < 360; ++i) hour.push_back(batch(kBegin + i * 10'000, 2));
  hour[10].fleet.test_error = 0.5;
  // In two writes, as a restart in between would make them.
  ASSERT_OK(bench.telemetry->add(std::span(hour).first(100)));
  bench.telemetry = SqliteHistory::open(bench.folder / "gateway.db").value();
  ASSERT_OK(bench.telemetry->add(std::span(hour).subspan(100)));
  const std::int64_t end = kBegin + 3'600'000;
  TEST_ASSERT_EQUAL_size_t(360, bench.telemetry->fleet(0, kBegin, end)->size());
  const auto minutes = bench.telemetry->fleet(1, kBegin, end).value();
  TEST_ASSERT_EQUAL_size_t(12, minutes.size());
  TEST_ASSERT_EQUAL_UINT64(90, minutes[11].accepted);
  TEST_ASSERT_TRUE(minutes[0].test_error == 0.5 && !minutes[1].test_error);
  const auto whole = bench.telemetry->fleet(2, kBegin, end).value();
  TEST_ASSERT_EQUAL_size_t(1, whole.size());
  TEST_ASSERT_EQUAL_UINT64(1080, whole[0].accepted);
  TEST_ASSERT_EQUAL_UINT64(360, whole[0].rejected);
  TEST_ASSERT_EQUAL_UINT64(720, whole[0].refused);
  TEST_ASSERT_EQUAL_UINT64(static_cast<std::uint64_t>(hour.back().fleet.time_ms / 1000), whole[0].version);
  const auto device = bench.telemetry->device(2, 2, kBegin, end).value();
  TEST_ASSERT_EQUAL_size_t(1, device.size());
  TEST_ASSERT_TRUE(device[0].accepted == 720 && device[0].measured == 1080 && device[0].bound_sum == 3240);
  TEST_ASSERT_EQUAL_size_t(30, bench.telemetry->device(1, 0, kBegin, kBegin + 300'000)->size());
  TEST_ASSERT_EQUAL_size_t(0, bench.telemetry->device(3, 0, kBegin, end)->size());
  TEST_ASSERT_EQUAL_size_t(0, bench.telemetry->device(1, 0, 0, kBegin)->size());
}

TEST("A device is found by its name once it was judged") {
  Bench bench;
  TEST_ASSERT_FALSE(bench.telemetry->find_device("pi-2")->has_value());
  bench.commit(1, 2);
  TEST_ASSERT_TRUE(bench.telemetry->find_device("pi-2").value() == ClientId{2});
}

TEST("What is older than is kept goes, a little with every call, and the rest stays") {
  Bench bench;
  std::vector<HistoryBatch> old;
  for (std::int64_t i = 0; i < 30; ++i) old.push_back(batch(kBegin + i * 10'000, 3));
  const std::int64_t now = kBegin + 2 * kDayMs;
  old.push_back(batch(now - 10'000, 3));
  ASSERT_OK(bench.telemetry->add(old));
  ASSERT_OK(bench.telemetry->prune(now));
  const auto some = bench.telemetry->fleet(0, 0, now)->size();
  TEST_ASSERT_TRUE(some < 31 && some > 1);
  for (int i = 0; i < 5; ++i) ASSERT_OK(bench.telemetry->prune(now));
  TEST_ASSERT_EQUAL_size_t(1, bench.telemetry->fleet(0, 0, now)->size());
  TEST_ASSERT_EQUAL_size_t(0, bench.telemetry->device(1, 0, 0, now - kDayMs)->size());
  TEST_ASSERT_EQUAL_size_t(1, bench.telemetry->device(1, 0, now - kDayMs, now)->size());
  TEST_ASSERT_EQUAL_size_t(2, bench.telemetry->fleet(1, 0, now)->size());
}

TEST("A large fleet's device points are kept for less time, the fleet's own as long as ever") {
  Bench bench;
  bench.commit(1, 4 * kFullyKeptDevices);
  const std::int64_t now = kBegin + kDayMs;
  const std::vector<HistoryBatch> both = {batch(now - kDayMs / 2, 1), batch(now - kDayMs / 8, 1)};
  ASSERT_OK(bench.telemetry->add(both));
  for (int i = 0; i < 3; ++i) ASSERT_OK(bench.telemetry->prune(now));
  TEST_ASSERT_EQUAL_size_t(2, bench.telemetry->fleet(0, 0, now)->size());
  TEST_ASSERT_EQUAL_size_t(1, bench.telemetry->device(1, 0, kBegin, now)->size());
}

TEST("Verdicts are committed while history is written, and both are whole") {
  Bench bench;
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (std::int64_t i = 0; !done; ++i) {
      const std::vector<HistoryBatch> one = {batch(kBegin + i * 10'000, 300)};
      if (!bench.telemetry->add(one).ok()) return;
    }
  });
  for (std::uint64_t i = 1; i <= 50; ++i) bench.commit(i, 1);
  done = true;
  writer.join();
  auto database =
      SqliteDatabase::open(bench.folder / "gateway.db", SqliteDatabase::Access::kReadOnly).value();
  TEST_ASSERT_EQUAL_STRING("50", database.query_text("SELECT count(*) FROM verdicts").value().c_str());
  TEST_ASSERT_EQUAL_STRING("ok", database.query_text("PRAGMA integrity_check").value().c_str());
  TEST_ASSERT_EQUAL_STRING(
      "0",
      database.query_text("SELECT count(*) % 300 FROM history_devices WHERE step = 10000").value().c_str());
}
