#include "gateway_server/store/sqlite_store.h"
#include "gateway_server/store/store_reader.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

DeviceRecord device(ClientId id, const std::string& name, std::uint64_t accepted, std::uint64_t rejected) {
  DeviceRecord record;
  record.id = id;
  record.name = name;
  record.accepted = accepted;
  record.rejected = rejected;
  return record;
}

}  // namespace

TEST("A store is read beside the gateway that writes it") {
  const TemporaryFolder folder;
  const auto file = folder / "gateway.db";
  TEST_ASSERT_TRUE(StoreReader::open(file).error().kind == ErrorKind::kNotFound);
  auto store = SqliteStore::open({.file = file, .fleet = "f", .model_hash = "ab", .guard = "aflguard"});
  ASSERT_OK(store);
  auto history = StoreReader::open(file);
  ASSERT_OK(history);
  TEST_ASSERT_EQUAL_UINT64(0, history->progress().value().iteration);

  const Bytes state(10);
  const std::vector<DeviceRecord> devices = {device(1, "pi-1", 1, 0), device(2, "pi-2", 0, 1)};
  VerdictRecord good{.iteration = 1,
                     .device = 1,
                     .sequence = 1,
                     .verdict = {.accepted = true, .reason = Reason::kAccepted},
                     .base_version = 0,
                     .version = 1,
                     .time_ms = 10};
  VerdictRecord bad{
      .iteration = 2,
      .device = 2,
      .sequence = 1,
      .verdict = {.accepted = false, .reason = Reason::kTooFar, .distance = 3, .bound = 2, .delay = 1},
      .base_version = 0,
      .version = 1,
      .time_ms = 20};
  const std::vector<VerdictRecord> verdicts = {good, bad};
  ASSERT_OK((*store)->commit({verdicts, devices, 2, 1, state}));
  ASSERT_OK((*store)->add_evaluation({1, 1, 0.5, 11}));
  ASSERT_OK((*store)->add_evaluation({2, 1, 0.25, 21}));

  const auto progress = history->progress();
  ASSERT_OK(progress);
  TEST_ASSERT_EQUAL_UINT64(2, progress->iteration);
  TEST_ASSERT_EQUAL_UINT64(1, progress->version);
  TEST_ASSERT_EQUAL_size_t(2, progress->devices.size());
  TEST_ASSERT_EQUAL_STRING("pi-2", progress->devices[1].name.c_str());
  TEST_ASSERT_EQUAL_UINT64(1, progress->devices[1].rejected);
  TEST_ASSERT_EQUAL_DOUBLE(0.25, progress->evaluation->test_error);
  TEST_ASSERT_TRUE(history->verdicts().value() == verdicts);
  TEST_ASSERT_EQUAL_size_t(2, history->evaluations().value().size());
}
