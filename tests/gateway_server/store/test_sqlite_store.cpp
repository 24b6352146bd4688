#include <limits>
#include <map>

#include "core/base/random.h"
#include "core/sqlite/sqlite_database.h"
#include "core/system/atomic_file.h"
#include "gateway_server/store/sqlite_store.h"
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

DeviceRecord device(ClientId id, const std::string& name) {
  DeviceRecord record;
  record.id = id;
  record.name = name;
  record.window.record(std::numeric_limits<std::uint64_t>::max() - id);
  record.accepted = 3;
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
  const std::vector<DeviceRecord> devices = {device(1, "pi-1")};
  const std::vector<VerdictRecord> verdicts = {verdict(iteration, 1, iteration)};
  return store.commit({verdicts, devices, iteration, iteration, state});
}

}  // namespace

TEST("What was committed is there after the store is opened again, bit by bit") {
  const TemporaryFolder folder;
  Bytes state(600'000);
  for (std::size_t i = 0; i < state.size(); ++i) state[i] = static_cast<std::byte>(i * 7);
  const std::vector<DeviceRecord> devices = {device(1, "pi-1"), device(2, "pi-2")};
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
  const std::vector<DeviceRecord> devices = {device(1, "pi-1")};
  ASSERT_OK((*store)->commit({verdicts, devices, 1, 1, Bytes(4)}));
  TEST_ASSERT_EQUAL_DOUBLE(0, (*store)->find_verdict(1, 1).value()->verdict.distance);
}

TEST("Verdicts beyond the number to keep are cleared away") {
  const TemporaryFolder folder;
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

namespace {

/// Every file of a store, byte by byte.
std::map<std::string, Bytes> files_of(const SqliteStoreOptions& options) {
  std::map<std::string, Bytes> files;
  for (const auto& entry : std::filesystem::directory_iterator(options.file.parent_path())) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".lock") && !name.ends_with("-shm")) files[name] = read_file(entry.path()).value();
  }
  return files;
}

void write_files(const SqliteStoreOptions& options, const std::map<std::string, Bytes>& files) {
  std::filesystem::remove_all(options.file.parent_path());
  std::filesystem::create_directories(options.file.parent_path());
  for (const auto& [name, bytes] : files) {
    ASSERT_OK(write_file_atomically(options.file.parent_path() / name, bytes));
  }
}

/// Everything that a gateway and its operators read from a store.
struct Everything {
  StoredState state;
  std::vector<VerdictRecord> verdicts;
  std::vector<std::pair<std::uint64_t, double>> evaluations;

  static Everything of(SqliteStore& store, const SqliteStoreOptions& options) {
    Everything all;
    all.state = store.load().value();
    auto history = StoreReader::open(options.file).value();
    all.verdicts = history.verdicts().value();
    const std::vector<EvaluationRecord> evaluations = history.evaluations().value();
    for (const auto& one : evaluations) {
      all.evaluations.emplace_back(one.iteration, one.test_error);
    }
    return all;
  }
  friend bool operator==(const Everything& a, const Everything& b) {
    return a.state.aggregator == b.state.aggregator && a.state.reference == b.state.reference &&
           a.state.guard == b.state.guard && a.state.devices == b.state.devices && a.verdicts == b.verdicts &&
           a.evaluations == b.evaluations;
  }
};

/// A store as a gateway leaves it that stops, or that is killed: then with a write-ahead log.
std::map<std::string, Bytes> store_files(const SqliteStoreOptions& options, bool killed) {
  auto store = SqliteStore::open(options).value();
  Bytes state(40'000);
  Random random(9);
  for (std::byte& byte : state) byte = static_cast<std::byte>(random.below(256));
  for (std::uint64_t i = 1; i <= 30; ++i) {
    const std::vector<DeviceRecord> devices = {device(1, "pi-1"), device(2, "pi-2")};
    const std::vector<VerdictRecord> verdicts = {verdict(i, 1 + i % 2, i)};
    ASSERT_OK(store->commit({verdicts, devices, i, i, state, i % 7 == 0 ? state : Bytes()}));
    ASSERT_OK(store->add_evaluation({i, i, 0.5, 77}));
  }
  if (!killed) store.reset();
  return files_of(options);
}

/// One changed byte somewhere: either the store is refused and stays as it is, or the byte meant nothing. In
/// the last transaction of a log it cannot be told from a power loss: that was an evaluation here.
void damage_and_open(const SqliteStoreOptions& options, const std::map<std::string, Bytes>& good,
                     const std::string& file, int rounds, int& refused) {
  write_files(options, good);
  const Everything wanted = Everything::of(*SqliteStore::open(options).value(), options);
  Everything before = wanted;
  before.evaluations.pop_back();
  Random random(11);
  for (int round = 0; round < rounds; ++round) {
    auto damaged = good;
    Bytes& bytes = damaged.at(file);
    const auto at = static_cast<std::size_t>(random.below(bytes.size()));
    bytes[at] ^= static_cast<std::byte>(1 + random.below(255));
    write_files(options, damaged);
    const auto opened = SqliteStore::open(options);
    const std::string what = file + " with byte " + std::to_string(at) + " changed";
    if (!opened.ok()) {
      ++refused;
      TEST_ASSERT_TRUE_MESSAGE(files_of(options) == damaged, (what + " was written to").c_str());
      continue;
    }
    const Everything now = Everything::of(**opened, options);
    TEST_ASSERT_TRUE_MESSAGE(now == wanted || (file.ends_with("-wal") && now == before),
                             (what + " was taken, and says something else").c_str());
  }
}

}  // namespace

TEST("One changed byte anywhere in a store is found, and then no byte of it is written") {
  const TemporaryFolder folder;
  const auto options = options_in(folder.path());
  const auto good = store_files(options, false);
  TEST_ASSERT_EQUAL_UINT64(1, good.size());
  int refused = 0;
  damage_and_open(options, good, "gateway.db", 150, refused);
  TEST_ASSERT_TRUE_MESSAGE(refused > 50, std::to_string(refused).c_str());
}

TEST("One changed byte in the log of a store that was killed is found too, unless it could be a power loss") {
  const TemporaryFolder folder;
  const auto options = options_in(folder.path());
  const auto good = store_files(options, true);
  TEST_ASSERT_EQUAL_UINT64(2, good.size());
  int refused = 0;
  damage_and_open(options, good, "gateway.db-wal", 100, refused);
  TEST_ASSERT_TRUE_MESSAGE(refused > 50, std::to_string(refused).c_str());
}

TEST("A log that ends in the middle of a transaction is in order: what was committed before counts") {
  const TemporaryFolder folder;
  const auto options = options_in(folder.path());
  const auto good = store_files(options, true);
  const Bytes& log = good.at("gateway.db-wal");
  for (std::size_t size = 0; size < log.size(); size += 4001) {
    auto cut = good;
    cut.at("gateway.db-wal").resize(size);
    write_files(options, cut);
    ASSERT_OK(SqliteStore::open(options));
  }
}

TEST("Damage in the model's own bytes is named, though the database is in order") {
  const TemporaryFolder folder;
  const auto options = options_in(folder.path());
  (void)store_files(options, false);
  {
    auto database = SqliteDatabase::open(options.file, SqliteDatabase::Access::kReadWrite).value();
    ASSERT_OK(database.run("UPDATE state SET aggregator = zeroblob(40000)"));
  }
  const auto before = files_of(options);
  const auto opened = SqliteStore::open(options);
  TEST_ASSERT_TRUE(!opened.ok() && opened.error().kind == ErrorKind::kCorrupt);
  ASSERT_CONTAINS(opened.error().message, "row 1 of table 'state' does not match its checksum");
  ASSERT_CONTAINS(opened.error().message, "restore it from a backup");
  TEST_ASSERT_TRUE(files_of(options) == before);
}

TEST("A store of an older program is brought up to date, and everything in it stays") {
  const TemporaryFolder folder;
  const auto options = options_in(folder.path());
  (void)store_files(options, false);
  const Everything wanted = Everything::of(*SqliteStore::open(options).value(), options);
  {
    auto database = SqliteDatabase::open(options.file, SqliteDatabase::Access::kReadWrite).value();
    ASSERT_OK(
        database.run("DROP TABLE history_fleet; DROP TABLE history_devices;"
                     "DROP TABLE reference; ALTER TABLE state DROP COLUMN checksum;"
                     "ALTER TABLE devices DROP COLUMN checksum; ALTER TABLE verdicts DROP COLUMN checksum;"
                     "ALTER TABLE evaluations DROP COLUMN checksum; PRAGMA user_version = 2"));
  }
  for (int i = 0; i < 2; ++i) {
    auto opened = SqliteStore::open(options);
    ASSERT_OK(opened);
    Everything now = Everything::of(**opened, options);
    TEST_ASSERT_TRUE(now.state.reference.empty());  // older programs kept it with the model
    now.state.reference = wanted.state.reference;
    TEST_ASSERT_TRUE(now == wanted);
  }
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
