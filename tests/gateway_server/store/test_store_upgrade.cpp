#include "tests/gateway_server/store/stored_fleet.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

constexpr const char* kToVersion4 =
    "DROP TABLE model_changes; DROP TABLE models; DELETE FROM meta WHERE key IN ('store', 'schema');"
    "ALTER TABLE meta DROP COLUMN checksum; ALTER TABLE history_fleet DROP COLUMN checksum;"
    "ALTER TABLE history_devices DROP COLUMN checksum; PRAGMA user_version = 4;";
constexpr const char* kToVersion2 =
    "DROP TABLE history_fleet; DROP TABLE history_devices; DROP TABLE reference;"
    "ALTER TABLE state DROP COLUMN checksum; ALTER TABLE devices DROP COLUMN checksum;"
    "ALTER TABLE verdicts DROP COLUMN checksum; ALTER TABLE evaluations DROP COLUMN checksum;"
    "PRAGMA user_version = 2;";

struct OldStore {
  TemporaryFolder folder;
  SqliteStoreOptions options = stored_fleet_options(folder.path());
  StoredFleet fleet;
  std::string history;

  explicit OldStore(const std::string& downgrade) {
    {
      auto store = SqliteStore::open(options).value();
      for (int i = 0; i < 5; ++i) ASSERT_OK(fleet.commit(*store, 4));
      auto kept = SqliteHistory::open(options.file).value();
      const std::vector<HistoryBatch> batches = {stored_history(0), stored_history(1)};
      ASSERT_OK(kept->add(batches));
    }
    history = stored_history_text(options.file);
    auto database = SqliteDatabase::open(options.file, SqliteDatabase::Access::kReadWrite).value();
    ASSERT_OK(database.run(downgrade));
    std::filesystem::remove(options.file.string() + ".answered");
  }
};

}  // namespace

TEST("A store of the schema before is brought up to date, and everything in it stays") {
  OldStore old(kToVersion4);
  for (int i = 0; i < 2; ++i) {
    auto opened = SqliteStore::open(old.options);
    ASSERT_OK(opened);
    TEST_ASSERT_EQUAL_STRING("", old.fleet.compare(**opened, old.options.file).c_str());
    ASSERT_OK(old.fleet.commit(**opened, 4));
  }
  TEST_ASSERT_EQUAL_STRING(old.history.c_str(), stored_history_text(old.options.file).c_str());
}

TEST("A store of a much older program is brought up to date, and its model, devices and verdicts stay") {
  OldStore old(std::string(kToVersion4) + kToVersion2);
  for (int i = 0; i < 2; ++i) {
    auto opened = SqliteStore::open(old.options);
    ASSERT_OK(opened);
    // Older programs kept the reference update with the model.
    TEST_ASSERT_EQUAL_STRING("the reference update", old.fleet.compare(**opened, old.options.file).c_str());
    TEST_ASSERT_EQUAL_size_t(20, StoreReader::open(old.options.file)->verdicts()->size());
    TEST_ASSERT_EQUAL_size_t(kStoredDevices, (*opened)->load()->devices.size());
  }
}

TEST("A store whose version says less than its tables is damaged") {
  OldStore store("PRAGMA user_version = 4");
  ASSERT_CONTAINS(message_of(SqliteStore::open(store.options)), "with tables of a later one");
}
