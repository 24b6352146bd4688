// A store's files are changed behind its back: bits flip, its log is cut. Either the start is refused, and no
// byte is written, or everything that was acknowledged is there.
#include <cstdio>
#include <functional>
#include <set>

#include "tests/gateway_server/store/stored_fleet.h"
#include "tests/support/from_environment.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

/// A store with all kinds of rows, as it lies on the disk after its gateway was stopped or killed.
class DamagedStore final {
 public:
  enum class End : std::uint8_t { kStopped, kKilled };

  explicit DamagedStore(End end) : options_(stored_fleet_options(folder_.path())) {
    auto store = SqliteStore::open(options_).value();
    auto history = SqliteHistory::open(options_.file).value();
    for (std::int64_t step = 0; step < 40; ++step) {
      ASSERT_OK(fleet_.commit(*store, 40));
      ASSERT_OK(store->add_evaluation({fleet_.iteration(), 1, 0.5, 77}));
      const std::vector<HistoryBatch> batches = {stored_history(2 * step), stored_history(2 * step + 1)};
      ASSERT_OK(history->add(batches));
      if (step == 25) checkpoint();
    }
    history_ = stored_history_text(options_.file);
    ASSERT_OK(fleet_.commit(*store, 40));
    history.reset();
    if (end == End::kStopped) store.reset();
    good_ = store_image(options_.file);
  }

  [[nodiscard]] const StoreImage& good() const { return good_; }
  [[nodiscard]] const std::filesystem::path& file() const { return options_.file; }

  /// Starts on `damaged` files.
  void expect_refused_or_whole(const StoreImage& damaged, const std::string& what) {
    write_store_image(options_.file, damaged);
    auto opened = SqliteStore::open(options_);
    if (!opened.ok()) {
      ++refused_;
      TEST_ASSERT_TRUE_MESSAGE(opened.error().kind != ErrorKind::kInternal,
                               (what + ": " + opened.error().message).c_str());
      ASSERT_CONTAINS(opened.error().message, "gateway.db");
      TEST_ASSERT_TRUE_MESSAGE(store_image(options_.file) == damaged, (what + " was written to").c_str());
      return;
    }
    ++whole_;
    StoredFleet fleet = fleet_;
    expect_whole(fleet, **opened, what);
    TEST_ASSERT_TRUE_MESSAGE(stored_history_text(options_.file) == history_, (what + ": history").c_str());
    // It can also be used: the next updates are there after the next start.
    const Status more = fleet.commit(**opened, 3);
    TEST_ASSERT_TRUE_MESSAGE(more.ok(), (what + ": " + (more.ok() ? "" : more.error().message)).c_str());
    opened->reset();
    opened = SqliteStore::open(options_);
    TEST_ASSERT_TRUE_MESSAGE(opened.ok(), (what + ": " + message_of(opened)).c_str());
    expect_whole(fleet, **opened, what + ", then used,");
  }

  /// What the tries came to, for people.
  void report(const char* what) const {
    std::printf("%s: %d tries, %d refused, %d with everything acknowledged\n", what, refused_ + whole_,
                refused_, whole_);
  }
  [[nodiscard]] int refused() const { return refused_; }
  [[nodiscard]] int whole() const { return whole_; }

 private:
  void checkpoint() {
    auto database = SqliteDatabase::open(options_.file, SqliteDatabase::Access::kReadWrite).value();
    ASSERT_OK(database.run("PRAGMA wal_checkpoint(PASSIVE)"));
  }
  void expect_whole(const StoredFleet& fleet, SqliteStore& store, const std::string& what) const {
    const std::string differs = fleet.compare(store, options_.file);
    TEST_ASSERT_TRUE_MESSAGE(differs.empty(), (what + " was taken, and changed " + differs).c_str());
  }

  TemporaryFolder folder_{memory_folder()};
  SqliteStoreOptions options_;
  StoredFleet fleet_;
  std::string history_;
  StoreImage good_;
  int refused_ = 0;
  int whole_ = 0;
};

std::uint64_t rounds(const char* name, std::uint64_t quick) {
  return from_environment(name, quick);
}

Random seeded() {
  return Random(from_environment("AFLGUARD_SEED", 11));
}

/// Changes one bit somewhere in all files together.
std::string flip_anywhere(StoreImage& image, Random& random) {
  std::uint64_t size = 0;
  for (const auto& [name, bytes] : image) size += bytes.size();
  std::uint64_t at = random.below(size);
  for (auto& [name, bytes] : image) {
    if (at >= bytes.size()) {
      at -= bytes.size();
      continue;
    }
    const auto bit = static_cast<unsigned>(random.below(8));
    bytes[at] ^= static_cast<std::byte>(1U << bit);
    return "bit " + std::to_string(bit) + " of byte " + std::to_string(at) + " of " + name;
  }
  return "";
}

/// The pages of the database that hold indexes: of the tables' columns, and those that SQLite makes itself.
std::vector<std::uint64_t> index_pages(const std::filesystem::path& file) {
  auto database = SqliteDatabase::open(file, SqliteDatabase::Access::kReadOnly).value();
  auto rows = database
                  .prepare(
                      "SELECT pageno FROM dbstat WHERE name IN (SELECT name FROM sqlite_master WHERE "
                      "type = 'index') ORDER BY pageno")
                  .value();
  std::vector<std::uint64_t> pages;
  while (rows.step().value()) pages.push_back(rows.number(0));
  return pages;
}

/// A log that lost something: its end, a stretch, or all of it.
std::string cut_log(StoreImage& image, Random& random) {
  Bytes& log = image.at("gateway.db-wal");
  const auto at = static_cast<std::size_t>(random.below(log.size()));
  switch (random.below(4)) {
    case 0: {
      const std::size_t end = std::min(log.size(), at + 1 + random.below(60'000));
      std::fill(log.begin() + static_cast<std::ptrdiff_t>(at), log.begin() + static_cast<std::ptrdiff_t>(end),
                std::byte{0});
      return "a log with zeros from byte " + std::to_string(at);
    }
    case 1:
      if (random.below(10) == 0) {
        image.erase("gateway.db-wal");
        return "a removed log";
      }
      [[fallthrough]];
    default:
      log.resize(at);
      return "a log cut at byte " + std::to_string(at);
  }
}

}  // namespace

TEST("One flipped bit anywhere in the files of a killed gateway's store is found, or changed nothing") {
  DamagedStore store(DamagedStore::End::kKilled);
  TEST_ASSERT_EQUAL_size_t(3, store.good().size());  // the database, its log, the mark of what was answered
  Random random = seeded();
  for (std::uint64_t round = rounds("AFLGUARD_FLIPS", 100); round > 0; --round) {
    StoreImage damaged = store.good();
    const std::string what = flip_anywhere(damaged, random);
    store.expect_refused_or_whole(damaged, what);
  }
  store.report("flips, killed");
  TEST_ASSERT_TRUE(store.refused() > store.whole() / 4);
}

TEST("One flipped bit anywhere in the files of a stopped gateway's store is found, or changed nothing") {
  DamagedStore store(DamagedStore::End::kStopped);
  TEST_ASSERT_EQUAL_size_t(2, store.good().size());
  Random random = seeded();
  for (std::uint64_t round = rounds("AFLGUARD_FLIPS", 100); round > 0; --round) {
    StoreImage damaged = store.good();
    const std::string what = flip_anywhere(damaged, random);
    store.expect_refused_or_whole(damaged, what);
  }
  store.report("flips, stopped");
  TEST_ASSERT_TRUE(store.refused() > store.whole() / 4);
}

TEST("One flipped bit in an index is found, or changed nothing") {
  DamagedStore store(DamagedStore::End::kStopped);
  constexpr std::size_t kPage = 16384;
  const auto pages = index_pages(store.file());
  TEST_ASSERT_TRUE(pages.size() > 2);
  Random random = seeded();
  for (std::uint64_t round = rounds("AFLGUARD_INDEX_FLIPS", 60); round > 0; --round) {
    StoreImage damaged = store.good();
    const std::size_t at = (pages[random.below(pages.size())] - 1) * kPage + random.below(kPage);
    damaged.at("gateway.db").at(at) ^= static_cast<std::byte>(1U << random.below(8));
    store.expect_refused_or_whole(damaged, "a bit of byte " + std::to_string(at) + ", in an index,");
  }
  store.report("flips in indexes");
  TEST_ASSERT_TRUE(store.refused() > store.whole() / 9);
}

TEST("A log that was cut, emptied or removed after its updates were answered is found") {
  DamagedStore store(DamagedStore::End::kKilled);
  Random random = seeded();
  for (std::uint64_t round = rounds("AFLGUARD_LOG_CUTS", 60); round > 0; --round) {
    StoreImage damaged = store.good();
    const std::string what = cut_log(damaged, random);
    store.expect_refused_or_whole(damaged, what);
  }
  store.report("cuts of the log");
  TEST_ASSERT_TRUE(store.refused() > store.whole() / 4);
}

TEST("A store that lost answered updates says how many, and what to do; without its mark it goes on") {
  DamagedStore store(DamagedStore::End::kKilled);
  StoreImage image = store.good();
  image.erase("gateway.db-wal");
  write_store_image(store.file(), image);
  const auto options = stored_fleet_options(store.file().parent_path().parent_path());
  const std::string refused = message_of(SqliteStore::open(options));
  ASSERT_CONTAINS(refused, "1640 updates were answered, the store holds 1040");
  ASSERT_CONTAINS(refused, "-wal was cut or removed");
  image.erase("gateway.db");
  write_store_image(store.file(), image);
  ASSERT_CONTAINS(message_of(SqliteStore::open(options)), "1640 updates were answered, the store is empty");
  image = store.good();
  image.erase("gateway.db");
  image.erase("gateway.db.answered");
  write_store_image(store.file(), image);
  ASSERT_CONTAINS(message_of(SqliteStore::open(options)), "is missing, and its log");
  image = store.good();
  image.erase("gateway.db-wal");
  image.erase("gateway.db.answered");
  write_store_image(store.file(), image);
  ASSERT_OK(SqliteStore::open(options));
}

TEST("A mark that counts for another store is not taken for this one's") {
  DamagedStore one(DamagedStore::End::kStopped);
  DamagedStore other(DamagedStore::End::kStopped);
  StoreImage mixed = one.good();
  mixed.at("gateway.db") = other.good().at("gateway.db");
  write_store_image(one.file(), mixed);
  ASSERT_CONTAINS(message_of(SqliteStore::open(stored_fleet_options(one.file().parent_path().parent_path()))),
                  "is not the store whose answers");
}

namespace {

/// Changes a stopped store by SQL, as no flipped bit could, and gives the start's answer.
std::string start_after(const std::string& sql) {
  DamagedStore store(DamagedStore::End::kStopped);
  {
    auto database = SqliteDatabase::open(store.file(), SqliteDatabase::Access::kReadWrite).value();
    ASSERT_OK(database.run(sql));
  }
  const StoreImage before = store_image(store.file());
  const auto opened = SqliteStore::open(stored_fleet_options(store.file().parent_path().parent_path()));
  TEST_ASSERT_TRUE_MESSAGE(!opened.ok() && opened.error().kind == ErrorKind::kCorrupt, sql.c_str());
  ASSERT_CONTAINS(opened.error().message, "restore it from a backup");
  TEST_ASSERT_TRUE(store_image(store.file()) == before);
  return opened.error().message;
}

}  // namespace

TEST("Rows that another program changed, removed or took from another time are named") {
  ASSERT_CONTAINS(start_after("UPDATE state SET aggregator = zeroblob(5000)"),
                  "row 1 of table 'state' does not match its checksum");
  ASSERT_CONTAINS(start_after("UPDATE history_fleet SET refused = 9 WHERE step = 3600000"),
                  "of table 'history_fleet' does not match its checksum");
  ASSERT_CONTAINS(start_after("UPDATE history_devices SET measured = 9 WHERE device = 2"),
                  "of table 'history_devices' does not match its checksum");
  ASSERT_CONTAINS(start_after("UPDATE meta SET value = 'vineyard' WHERE key = 'fleet'"),
                  "row fleet of table 'meta' does not match its checksum");
  ASSERT_CONTAINS(start_after("DELETE FROM verdicts WHERE iteration = 77"), "without a gap");
  ASSERT_CONTAINS(start_after("DELETE FROM verdicts WHERE iteration = 1640"), "the newest verdict");
  ASSERT_CONTAINS(
      start_after("UPDATE devices SET accepted = accepted - 1, checksum = row_checksum(id, name, "
                  "highest_sequence, judged_bits, accepted - 1, rejected, last_seen) WHERE id = 2"),
      "do not add up");
  ASSERT_CONTAINS(start_after("DROP INDEX verdicts_by_update"), "its tables are not defined");
}
