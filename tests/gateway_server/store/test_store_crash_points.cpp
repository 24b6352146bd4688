// The store on a disk that goes wrong at every single write, sync, truncation and removal of a scripted run,
// in every way that a disk or a power loss has. After each: the store starts, everything acknowledged is
// there, nothing counts twice.
#include <array>
#include <cstdio>

#include "tests/gateway_server/store/stored_fleet.h"
#include "tests/support/crash_disk.h"
#include "tests/support/from_environment.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

constexpr std::size_t kUpdates = 3;
constexpr int kCommits = 12;
constexpr int kAttempts = 4;

/// A fault that passes is tried again, as the judging thread and the service manager do.
template <typename Attempt>
bool insist(const Attempt& attempt) {
  for (int i = 0; i < kAttempts; ++i) {
    if (attempt()) return true;
  }
  return false;
}

/// A gateway's life with its store, from the first start on.
class ScriptedRun final {
 public:
  explicit ScriptedRun(SqliteStoreOptions options) : options_(std::move(options)) {
    options_.keep_verdicts = 1'000'000;
  }

  /// Ends where the disk does not let it go on.
  void play() {
    if (!open()) return;
    for (int i = 0; i < kCommits; ++i) {
      if (i == kCommits / 2) {
        close();
        if (!open()) return;
      }
      if (i % 4 == 3) checkpoint();
      if (i % 3 == 1) note_past(i);
      if (!insist([&] { return fleet_.commit(*store_, kUpdates).ok(); })) return close();
    }
    close();
  }
  /// What was acknowledged.
  [[nodiscard]] const StoredFleet& acknowledged() const { return fleet_; }

 private:
  bool open() {
    return insist([this] {
      auto opened = SqliteStore::open(options_);
      if (opened.ok()) store_ = std::move(*opened);
      return store_ != nullptr;
    });
  }
  void close() { store_.reset(); }
  void checkpoint() {
    auto database = SqliteDatabase::open(options_.file, SqliteDatabase::Access::kReadWrite);
    if (database.ok()) (void)database->run("PRAGMA wal_checkpoint(RESTART)");
  }
  void note_past(int number) {
    auto history = SqliteHistory::open(options_.file);
    const std::vector<HistoryBatch> batches = {stored_history(number)};
    if (history.ok()) (void)(*history)->add(batches);
    (void)store_->add_evaluation({fleet_.iteration(), 1, 0.5, 77});
  }

  SqliteStoreOptions options_;
  StoredFleet fleet_;
  std::unique_ptr<SqliteStore> store_;
};

class CrashPoints final {
 public:
  CrashPoints() {
    ScriptedRun run(options());
    disk_.arm(DiskFault::kKill, 0);
    run.play();
    operations_ = disk_.operations();
    disk_.settle();
    expect("without a fault", run.acknowledged(), false);
    TEST_ASSERT_EQUAL_UINT64(kCommits * kUpdates, run.acknowledged().iteration());
  }
  [[nodiscard]] std::uint64_t operations() const { return operations_; }

  /// True when the run came that far.
  void strike(DiskFault fault, std::uint64_t point) {
    clear();
    disk_.arm(fault, point);
    ScriptedRun run(options());
    run.play();
    TEST_ASSERT_TRUE(disk_.struck());
    disk_.settle();
    const std::string what =
        "fault " + std::to_string(static_cast<int>(fault)) + " at operation " + std::to_string(point);
    const bool passes = fault == DiskFault::kFail || fault == DiskFault::kFull;
    if (passes) {
      TEST_ASSERT_TRUE_MESSAGE(run.acknowledged().iteration() == kCommits * kUpdates,
                               (what + " stopped the run").c_str());
    }
    expect(what, run.acknowledged(), !passes);
  }

 private:
  [[nodiscard]] SqliteStoreOptions options() const { return stored_fleet_options(folder_.path()); }
  void clear() { std::filesystem::remove_all(options().file.parent_path()); }

  /// The updates that were being committed may be there, whole, or not.
  void expect(const std::string& what, StoredFleet fleet, bool one_more) {
    auto store = SqliteStore::open(options());
    TEST_ASSERT_TRUE_MESSAGE(store.ok(), (what + ": does not start: " + message_of(store)).c_str());
    std::string differs = fleet.compare(**store, options().file);
    if (!differs.empty() && one_more) {
      StoredFleet more = fleet;
      more.pretend(kUpdates);
      if (more.compare(**store, options().file).empty()) {
        fleet = more;
        differs.clear();
      }
    }
    TEST_ASSERT_TRUE_MESSAGE(differs.empty(), (what + ": lost or changed " + differs).c_str());
    const Status committed = fleet.commit(**store, kUpdates);
    TEST_ASSERT_TRUE_MESSAGE(committed.ok(), what.c_str());
    store->reset();
    store = SqliteStore::open(options());
    TEST_ASSERT_TRUE_MESSAGE(store.ok(), (what + ", later: " + message_of(store)).c_str());
    differs = fleet.compare(**store, options().file);
    TEST_ASSERT_TRUE_MESSAGE(differs.empty(), (what + ", later: lost or changed " + differs).c_str());
  }

  TemporaryFolder folder_{memory_folder()};
  CrashDisk disk_{folder_ / "state", from_environment("AFLGUARD_SEED", 3)};
  std::uint64_t operations_ = 0;
};

}  // namespace

TEST("At every point where the disk or the power fails, the store starts with everything acknowledged") {
  CrashPoints points;
  const std::uint64_t step = from_environment("AFLGUARD_CRASH_STEP", 23);  // 1: every one
  TEST_ASSERT_TRUE(points.operations() > 100);
  std::uint64_t tried = 0;
  constexpr std::array kFaults = {DiskFault::kKill, DiskFault::kFail, DiskFault::kFull,
                                  DiskFault::kDrop, DiskFault::kTear, DiskFault::kReorder};
  for (std::size_t i = 0; i < kFaults.size(); ++i) {
    for (std::uint64_t point = 1 + i % step; point <= points.operations(); point += step) {
      points.strike(kFaults[i], point);
      ++tried;
    }
  }
  std::printf(
      "store: %llu operations, %zu kinds of fault, %llu crash points tried, 0 lost, 0 doubled, 0 "
      "unstartable\n",
      static_cast<unsigned long long>(points.operations()), kFaults.size(),
      static_cast<unsigned long long>(tried));
}
