#include <limits>

#include "core/base/random.h"
#include "core/sqlite/sqlite_database.h"
#include "core/system/atomic_file.h"
#include "gateway_server/store/sqlite_store.h"
#include "gateway_server/store/sqlite_stored_model.h"
#include "gateway_server/store/store_reader.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

SqliteStoreOptions options_in(const std::filesystem::path& folder) {
  return {
      .file = folder / "state" / "gateway.db", .fleet = "orchard", .model_hash = "ab12", .guard = "aflguard"};
}

DeviceRecord device(ClientId id, const std::string& name, std::uint64_t accepted) {
  DeviceRecord record;
  record.id = id;
  record.name = name;
  record.window.record(std::numeric_limits<std::uint64_t>::max() - id);
  record.accepted = accepted;
  return record;
}

VerdictRecord verdict(std::uint64_t iteration, ClientId device, std::uint64_t sequence) {
  return {.iteration = iteration,
          .device = device,
          .sequence = sequence,
          .verdict = {.accepted = true,
                      .reason = Reason::kAccepted,
                      .distance = 0.1,
                      .bound = 0.7,
                      .delay = 2,
                      .altered = 0.25,
                      .alterations = 5},
          .base_version = 4,
          .version = 7,
          .time_ms = 1234567};
}

Status commit_one(SqliteStore& store, std::uint64_t iteration, std::span<const std::byte> state) {
  const std::vector<DeviceRecord> devices = {device(1, "pi-1", iteration)};
  const std::vector<VerdictRecord> verdicts = {verdict(iteration, 1, iteration)};
  return store.commit({verdicts, devices, iteration, iteration, state});
}

}  // namespace

TEST("A change of the model keeps verdicts, devices and numbers, and the former model can be gone back to") {
  const TemporaryFolder folder;
  SqliteStoreOptions options = options_in(folder.path());
  options.model_name = "first";
  const Bytes former(100, std::byte{1});
  {
    auto store = SqliteStore::open(options);
    ASSERT_OK(store);
    for (std::uint64_t i = 1; i <= 5; ++i) ASSERT_OK(commit_one(**store, i, former));
    ASSERT_OK((*store)->change_model({2, "second", "cd34"}, 99));
  }
  ASSERT_CONTAINS(message_of(SqliteStore::open(options)), "aflguard fleet rollout");
  const auto in_force = model_of_store(options.file);
  TEST_ASSERT_TRUE(in_force.has_value());
  TEST_ASSERT_EQUAL_UINT64(2, in_force->number);
  TEST_ASSERT_EQUAL_STRING("second", in_force->name.c_str());
  options.model_hash = "cd34";
  for (int i = 0; i < 2; ++i) {  // killed before the first verdict, it begins in the same way
    auto store = SqliteStore::open(options);
    ASSERT_OK(store);
    const auto state = (*store)->load();
    ASSERT_OK(state);
    TEST_ASSERT_TRUE(state->aggregator.empty() && state->beginning.has_value());
    TEST_ASSERT_EQUAL_UINT64(5, state->beginning->iteration);
    TEST_ASSERT_EQUAL_UINT64(6, state->beginning->version);
    TEST_ASSERT_TRUE(state->beginning->aggregator.empty());
    TEST_ASSERT_EQUAL_size_t(1, state->devices.size());
    TEST_ASSERT_TRUE((*store)->find_verdict(1, 3)->has_value());
  }
  auto store = SqliteStore::open(options);
  ASSERT_OK(store);
  ASSERT_OK(commit_one(**store, 6, Bytes(10, std::byte{2})));
  // A number that another model has is replaced.
  ASSERT_OK((*store)->change_model({2, "first", "ab12"}, 100));
  options.model_hash = "ab12";
  store->reset();
  store = SqliteStore::open(options);
  ASSERT_OK(store);
  const auto state = (*store)->load();
  ASSERT_OK(state);
  TEST_ASSERT_TRUE(state->beginning->aggregator == former);
  TEST_ASSERT_EQUAL_UINT64(6, state->beginning->iteration);
  TEST_ASSERT_EQUAL_UINT64(1, model_of_store(options.file)->number);
  auto reader = StoreReader::open(options.file);
  ASSERT_OK(reader);
  TEST_ASSERT_TRUE((reader->model_changes().value() == std::vector<std::uint64_t>{5, 6}));
  TEST_ASSERT_EQUAL_size_t(6, reader->verdicts()->size());
}

TEST("What was committed is there after the store is opened again, bit by bit") {
  const TemporaryFolder folder;
  Bytes state(600'000);
  for (std::size_t i = 0; i < state.size(); ++i) state[i] = static_cast<std::byte>(i * 7);
  const std::vector<DeviceRecord> devices = {device(1, "pi-1", 1), device(2, "pi-2", 1)};
  const std::vector<VerdictRecord> verdicts = {verdict(1, 2, ~0ULL - 2), verdict(2, 1, 9)};
  {
    auto store = SqliteStore::open(options_in(folder.path()));
    ASSERT_OK(store);
    TEST_ASSERT_TRUE((*store)->load().value().aggregator.empty());
    ASSERT_OK((*store)->commit({verdicts, devices, 2, 7, state}));
  }
  auto store = SqliteStore::open(options_in(folder.path()));
  ASSERT_OK(store);
  const auto loaded = (*store)->load();
  ASSERT_OK(loaded);
  TEST_ASSERT_TRUE(loaded->aggregator == state);
  TEST_ASSERT_EQUAL_STRING("aflguard", loaded->guard.c_str());
  TEST_ASSERT_TRUE(loaded->devices == devices);
  TEST_ASSERT_TRUE((*store)->find_verdict(2, ~0ULL - 2).value() == verdicts[0]);
  TEST_ASSERT_TRUE((*store)->find_verdict(1, 9).value() == verdicts[1]);
  TEST_ASSERT_FALSE((*store)->find_verdict(1, 10).value().has_value());
}

TEST("A commit that cannot be made changes nothing, and can be made later") {
  const TemporaryFolder folder;
  auto store = SqliteStore::open(options_in(folder.path()));
  ASSERT_OK(store);
  ASSERT_OK(commit_one(**store, 1, Bytes(10)));
  TEST_ASSERT_FALSE(commit_one(**store, 1, Bytes(20)).ok());  // the same iteration twice
  TEST_ASSERT_EQUAL_UINT64(10, (*store)->load().value().aggregator.size());
  ASSERT_OK(commit_one(**store, 2, Bytes(30)));
  TEST_ASSERT_EQUAL_UINT64(30, (*store)->load().value().aggregator.size());
}

TEST("A distance that is not a number does not stop a commit") {
  const TemporaryFolder folder;
  auto store = SqliteStore::open(options_in(folder.path()));
  ASSERT_OK(store);
  std::vector<VerdictRecord> verdicts = {verdict(1, 1, 1)};
  verdicts[0].verdict.distance = std::numeric_limits<double>::quiet_NaN();
  verdicts[0].verdict.bound = std::numeric_limits<double>::infinity();
  const std::vector<DeviceRecord> devices = {device(1, "pi-1", 1)};
  ASSERT_OK((*store)->commit({verdicts, devices, 1, 1, Bytes(4)}));
  TEST_ASSERT_EQUAL_DOUBLE(0, (*store)->find_verdict(1, 1).value()->verdict.distance);
}

TEST("Verdicts beyond the number to keep are cleared away") {
  const TemporaryFolder folder(memory_folder());
  auto options = options_in(folder.path());
  options.keep_verdicts = 100;
  auto store = SqliteStore::open(options);
  ASSERT_OK(store);
  for (std::uint64_t i = 1; i <= 1000; ++i) ASSERT_OK(commit_one(**store, i, Bytes(8)));
  TEST_ASSERT_FALSE((*store)->find_verdict(1, 900).value().has_value());
  TEST_ASSERT_TRUE((*store)->find_verdict(1, 901).value().has_value());
}

TEST("A second gateway is kept out, and so are another fleet and another model") {
  const TemporaryFolder folder;
  {
    auto store = SqliteStore::open(options_in(folder.path()));
    ASSERT_OK(store);
    ASSERT_CONTAINS(message_of(SqliteStore::open(options_in(folder.path()))),
                    "another gateway uses this store");
  }
  auto other = options_in(folder.path());
  other.fleet = "vineyard";
  ASSERT_CONTAINS(message_of(SqliteStore::open(other)), "belongs to fleet 'orchard'");
  other = options_in(folder.path());
  other.model_hash = "cd34";
  ASSERT_CONTAINS(message_of(SqliteStore::open(other)), "belongs to model 'ab12'");
}

TEST("Old verdicts are cleared away a few at a time, also when fewer are to be kept than before") {
  const TemporaryFolder folder(memory_folder());
  {
    auto store = SqliteStore::open(options_in(folder.path()));
    ASSERT_OK(store);
    for (std::uint64_t i = 1; i <= 300; ++i) ASSERT_OK(commit_one(**store, i, Bytes(8)));
  }
  auto options = options_in(folder.path());
  options.keep_verdicts = 100;
  auto store = SqliteStore::open(options);
  ASSERT_OK(store);
  const auto left = [&] { return StoreReader::open(options.file)->verdicts()->size(); };
  for (std::uint64_t i = 301; i <= 340; ++i) {
    const std::size_t before = left();
    ASSERT_OK(commit_one(**store, i, Bytes(8)));
    TEST_ASSERT_TRUE(before - left() <= 16);
  }
  TEST_ASSERT_EQUAL_size_t(100, left());
}

TEST("A store whose files are removed or replaced under it commits nothing that could be answered") {
  for (const std::string name : {"gateway.db", "gateway.db-wal", "gateway.db-shm", "gateway.db.lock"}) {
    for (const bool replaced : {false, true}) {
      const TemporaryFolder folder;
      const auto options = options_in(folder.path());
      auto store = SqliteStore::open(options);
      ASSERT_OK(store);
      ASSERT_OK(commit_one(**store, 1, Bytes(8)));
      const auto file = options.file.parent_path() / name;
      if (replaced) {
        std::filesystem::copy(file, folder / "copy");
        std::filesystem::rename(folder / "copy", file);
      } else {
        std::filesystem::remove(file);
      }
      const Status committed = commit_one(**store, 2, Bytes(8));
      TEST_ASSERT_TRUE_MESSAGE(!committed.ok() && committed.error().kind == ErrorKind::kCorrupt,
                               name.c_str());
      ASSERT_CONTAINS(committed.error().message,
                      name + (replaced ? ": was replaced while" : ": was removed while"));
    }
  }
}

TEST("A damaged store is named, with what to do, and is left as it is") {
  const TemporaryFolder folder;
  const auto options = options_in(folder.path());
  {
    auto store = SqliteStore::open(options);
    ASSERT_OK(store);
    for (std::uint64_t i = 1; i <= 50; ++i) ASSERT_OK(commit_one(**store, i, Bytes(40'000)));
  }
  auto bytes = read_file(options.file);
  ASSERT_OK(bytes);
  Random random(5);
  for (std::size_t i = 100; i < bytes->size(); ++i) (*bytes)[i] = static_cast<std::byte>(random.below(256));
  ASSERT_OK(write_file_atomically(options.file, *bytes));
  const auto opened = SqliteStore::open(options);
  TEST_ASSERT_FALSE(opened.ok());
  TEST_ASSERT_TRUE(opened.error().kind == ErrorKind::kCorrupt);
  ASSERT_CONTAINS(opened.error().message, "restore it from a backup");
  TEST_ASSERT_TRUE(read_file(options.file).value() == *bytes);

  ASSERT_OK(write_file_atomically(options.file, "this is a letter to my aunt, and no database at all"));
  TEST_ASSERT_TRUE(SqliteStore::open(options).error().kind == ErrorKind::kCorrupt);
}

TEST("A store that a newer program wrote is refused") {
  const TemporaryFolder folder;
  const auto options = options_in(folder.path());
  { ASSERT_OK(SqliteStore::open(options)); }
  {
    auto database = SqliteDatabase::open(options.file, SqliteDatabase::Access::kReadWrite);
    ASSERT_OK(database);
    ASSERT_OK(database->run("PRAGMA user_version = 99"));
  }
  ASSERT_CONTAINS(message_of(SqliteStore::open(options)), "version 99");
}
