#include "gateway_server/store/sqlite_store.h"

#include <chrono>
#include <utility>

#include "core/sqlite/sqlite_database.h"
#include "core/system/file_lock.h"
#include "gateway_server/store/answered_mark.h"
#include "gateway_server/store/sqlite_inspection.h"
#include "gateway_server/store/sqlite_schema.h"
#include "gateway_server/store/store_files.h"

namespace aflguard::gateway {
namespace {

namespace fs = std::filesystem;

/// Old verdicts that a commit clears away, above those that it adds: many at a time would hold answers up.
constexpr std::uint64_t kClearedPerCommit = 16;
/// What a power loss may take from the mark of what was answered.
constexpr std::chrono::seconds kBetweenSyncs(1);

/// Held for as long as the store is open.
Result<FileLock> lock_store(const fs::path& path) {
  auto lock = FileLock::take(path);
  if (lock.ok() || lock.error().kind != ErrorKind::kUnavailable) return lock;
  return unavailable(path.string() + ": another gateway uses this store" + lock_holder_text(path) +
                     "; stop it first");
}

Status write_owner(SqliteDatabase& database, const SqliteStoreOptions& options) {
  for (const auto& [key, value] : owner_facts(options)) {
    TRY(auto insert, database.prepare("INSERT OR IGNORE INTO meta (key, value, checksum) VALUES (?1, ?2, "
                                      "row_checksum(?1, ?2))"));
    TRY_STATUS(insert.bind(key).bind(value).run());
  }
  TRY(auto first, database.prepare("INSERT INTO models (number, name, hash, checksum) SELECT 1, ?1, ?2, "
                                   "row_checksum(1, ?1, ?2, NULL) WHERE NOT EXISTS (SELECT 1 FROM models)"));
  return first.bind(std::string_view(options.model_name)).bind(std::string_view(options.model_hash)).run();
}

/// What the model in force begins with, when the fleet has had another one before.
Result<std::optional<ModelBeginning>> read_beginning(SqliteDatabase& database) {
  TRY(auto select, database.prepare("SELECT iteration, version, aggregator FROM model_changes JOIN models ON "
                                    "model = number ORDER BY id DESC LIMIT 1"));
  TRY(const bool found, select.step());
  if (!found) return std::optional<ModelBeginning>();
  const auto blob = select.blob(2);
  return std::optional(ModelBeginning{select.number(0), select.number(1), Bytes(blob.begin(), blob.end())});
}

/// Its number in the store: the one that it has, the wanted one, or the next free one.
Result<std::uint64_t> enter_model(SqliteDatabase& database, const StoredModel& next) {
  TRY(auto insert,
      database.prepare(
          "INSERT INTO models (number, name, hash, checksum) SELECT CASE WHEN EXISTS (SELECT 1 FROM models "
          "WHERE number = ?1) THEN (SELECT max(number) + 1 FROM models) ELSE ?1 END, ?2, ?3, 0 "
          "WHERE NOT EXISTS (SELECT 1 FROM models WHERE hash = ?3)"));
  TRY_STATUS(
      insert.bind(next.number).bind(std::string_view(next.name)).bind(std::string_view(next.hash)).run());
  TRY_STATUS(database.run("UPDATE models SET checksum = row_checksum(number, name, hash, aggregator)"));
  TRY(auto select, database.prepare("SELECT number FROM models WHERE hash = ?"));
  TRY(const bool found, select.bind(std::string_view(next.hash)).step());
  if (!found) return internal_error("the model was not entered");
  return select.number(0);
}

/// With the newest schema.
Result<SqliteDatabase> open_database(const fs::path& file, const SqliteStoreOptions& options) {
  TRY(SqliteDatabase database, SqliteDatabase::open(file, SqliteDatabase::Access::kReadWrite));
  // Large pages: most of what is written is one blob of the model's size.
  TRY_STATUS(
      database.run("PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                   "PRAGMA wal_autocheckpoint = 1000; PRAGMA journal_size_limit = 67108864;"
                   "PRAGMA foreign_keys = ON"));
  TRY_STATUS(migrate(database));
  TRY_STATUS(write_owner(database, options));
  return database;
}

/// A power loss leaves no store or a whole one: it gets its name when it is complete.
Status make_store(const SqliteStoreOptions& options) {
  const fs::path unfinished = options.file.string() + ".new";
  std::error_code failed;
  for (const char* ending : {"", "-journal", "-wal", "-shm"}) {
    fs::remove(unfinished.string() + ending, failed);
  }
  {
    TRY(SqliteDatabase database, open_database(unfinished, options));
    TRY_STATUS(database.run("PRAGMA wal_checkpoint(TRUNCATE)"));
  }
  fs::rename(unfinished, options.file, failed);
  if (!failed) return {};
  return io_error("cannot rename " + unfinished.string() + ": " + failed.message());
}

}  // namespace

struct SqliteStore::Internals {
  SqliteStoreOptions options;
  FileLock lock;
  SqliteDatabase database;
  StoreFiles files;
  AnsweredMark answered;
  SqliteStatement begin;
  SqliteStatement end;
  SqliteStatement rollback;
  SqliteStatement put_state;
  SqliteStatement put_reference;
  SqliteStatement put_device;
  SqliteStatement put_verdict;
  SqliteStatement find_verdict;
  SqliteStatement prune;
  SqliteStatement put_evaluation{};
  std::uint64_t committed = 0;  ///< iteration
  bool marked = true;           ///< `answered` says so
  std::chrono::steady_clock::time_point synced{};

  /// The updates of the last commit may be answered when it is raised.
  Status raise_mark() {
    TRY_STATUS(answered.write(committed));
    marked = true;
    const auto now = std::chrono::steady_clock::now();
    if (now - synced < kBetweenSyncs) return {};
    synced = now;
    return answered.sync();
  }

  Status prepare() {
    TRY(begin, database.prepare("BEGIN IMMEDIATE"));
    TRY(end, database.prepare("COMMIT"));
    TRY(rollback, database.prepare("ROLLBACK"));
    TRY(put_state,
        database.prepare("INSERT INTO state (id, iteration, version, guard, aggregator, checksum) VALUES "
                         "(1, ?1, ?2, ?3, ?4, row_checksum(?1, ?2, ?3, ?4)) ON CONFLICT (id) DO UPDATE SET "
                         "iteration = excluded.iteration, version = excluded.version, guard = "
                         "excluded.guard, aggregator = excluded.aggregator, checksum = excluded.checksum"));
    TRY(put_reference, database.prepare("INSERT INTO reference (id, bytes, checksum) VALUES (1, ?1, "
                                        "row_checksum(?1)) ON CONFLICT (id) DO UPDATE SET bytes = "
                                        "excluded.bytes, checksum = excluded.checksum"));
    TRY(put_device,
        database.prepare(
            "INSERT INTO devices (id, name, highest_sequence, judged_bits, accepted, rejected, last_seen, "
            "checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, row_checksum(?1, ?2, ?3, ?4, ?5, ?6, ?7)) "
            "ON CONFLICT (id) DO UPDATE SET highest_sequence = excluded.highest_sequence, judged_bits = "
            "excluded.judged_bits, accepted = excluded.accepted, rejected = excluded.rejected, last_seen = "
            "excluded.last_seen, checksum = excluded.checksum"));
    // A distance that is not a number is stored as null, and so is its checksum.
    TRY(put_verdict,
        database.prepare("INSERT INTO verdicts (iteration, device, sequence, accepted, reason, distance, "
                         "bound, base_version, version, delay, time, altered, alterations, checksum) VALUES "
                         "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, row_checksum(?1, ?2, ?3, "
                         "?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13))"));
    TRY(find_verdict,
        database.prepare(
            "SELECT iteration, accepted, reason, distance, bound, base_version, version, delay, time, "
            "altered, alterations, checksum IS row_checksum(iteration, device, sequence, accepted, reason, "
            "distance, bound, base_version, version, delay, time, altered, alterations) "
            "FROM verdicts WHERE device = ? AND sequence = ?"));
    TRY(prune, database.prepare("DELETE FROM verdicts WHERE iteration <= ?1 AND iteration < ?2 + "
                                "(SELECT min(iteration) FROM verdicts)"));
    TRY(put_evaluation,
        database.prepare("INSERT OR REPLACE INTO evaluations (iteration, version, test_error, time, "
                         "checksum) VALUES (?1, ?2, ?3, ?4, row_checksum(?1, ?2, ?3, ?4))"));
    return {};
  }
};

SqliteStore::SqliteStore(std::unique_ptr<Internals> internals) : internals_(std::move(internals)) {}
SqliteStore::~SqliteStore() = default;

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const SqliteStoreOptions& options) {
  std::error_code failed;
  if (options.file.has_parent_path()) fs::create_directories(options.file.parent_path(), failed);
  if (failed) return io_error(options.file.parent_path().string() + ": cannot be made: " + failed.message());
  fs::path lock_file = options.file;
  lock_file += ".lock";
  TRY(FileLock lock, lock_store(lock_file));
  const fs::path mark_file = answered_file(options);
  TRY(const auto answered, AnsweredMark::read(mark_file));
  TRY_STATUS(inspect_store(options, answered));
  if (!fs::exists(options.file, failed) || fs::file_size(options.file, failed) == 0) {
    TRY_STATUS(make_store(options));
  }
  TRY(SqliteDatabase database, open_database(options.file, options));
  TRY(const std::string name, database.query_text("SELECT value FROM meta WHERE key = 'store'"));
  TRY(const std::string held, database.query_text("SELECT coalesce((SELECT iteration FROM state), "
                                                  "(SELECT max(iteration) FROM verdicts))"));
  const std::uint64_t iteration = held.empty() ? 0 : std::stoull(held);
  if (!answered && iteration > 0 && options.log != nullptr) {
    options.log->warning(mark_file.string() + " is missing: whether updates after the " + held +
                         " in the store were answered is unknown; the fleet goes on from there");
  }
  TRY(AnsweredMark mark, AnsweredMark::open(mark_file, {name, iteration}));
  const std::string file = options.file.string();
  StoreFiles files({file, file + "-wal", file + "-shm", lock_file, mark_file});
  files.note();
  auto internals = std::unique_ptr<Internals>(new Internals{options,
                                                            std::move(lock),
                                                            std::move(database),
                                                            std::move(files),
                                                            std::move(mark),
                                                            {},
                                                            {},
                                                            {},
                                                            {},
                                                            {},
                                                            {},
                                                            {},
                                                            {},
                                                            {}});
  internals->committed = iteration;
  TRY_STATUS(internals->prepare());
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(internals)));
}

Result<StoredState> SqliteStore::load() {
  StoredState state;
  TRY(auto select, internals_->database.prepare("SELECT aggregator, guard FROM state WHERE id = 1"));
  TRY(const bool found, select.step());
  if (found) {
    const auto blob = select.blob(0);
    state.aggregator.assign(blob.begin(), blob.end());
    state.guard = select.text(1);
  }
  if (!found) {
    TRY(state.beginning, read_beginning(internals_->database));
  }
  TRY(auto reference, internals_->database.prepare("SELECT bytes FROM reference WHERE id = 1"));
  TRY(const bool has_reference, reference.step());
  if (has_reference) {
    const auto blob = reference.blob(0);
    state.reference.assign(blob.begin(), blob.end());
  }
  TRY(auto devices, internals_->database.prepare("SELECT id, name, highest_sequence, judged_bits, accepted, "
                                                 "rejected, last_seen FROM devices ORDER BY id"));
  while (true) {
    TRY(const bool more, devices.step());
    if (!more) break;
    state.devices.push_back({.id = devices.number(0),
                             .name = devices.text(1),
                             .window = ReplayWindow(devices.number(2), devices.number(3)),
                             .accepted = devices.number(4),
                             .rejected = devices.number(5),
                             .last_seen_ms = devices.integer(6)});
  }
  return state;
}

Status SqliteStore::commit(const StoreCommit& commit) {
  // What was committed before may be answered already: first its mark.
  if (!internals_->marked) TRY_STATUS(internals_->raise_mark());
  TRY_STATUS(internals_->begin.run());
  Status written = write(commit);
  if (written.ok()) written = internals_->end.run();
  if (!written.ok()) {
    // Some failures have rolled back by themselves; then this one fails and nothing is lost by it.
    (void)internals_->rollback.run();
    return written;
  }
  internals_->committed = commit.iteration;
  internals_->marked = false;
  TRY_STATUS(internals_->files.check());
  (void)internals_->raise_mark();  // tried again before the next commit
  return {};
}

Status SqliteStore::change_model(const StoredModel& next, std::int64_t time_ms) {
  TRY_STATUS(internals_->begin.run());
  Status written = write_change(next, time_ms);
  if (written.ok()) written = internals_->end.run();
  if (!written.ok()) (void)internals_->rollback.run();
  return written;
}

Status SqliteStore::write_change(const StoredModel& next, std::int64_t time_ms) {
  SqliteDatabase& database = internals_->database;
  TRY(auto keep,
      database.prepare("UPDATE models SET aggregator = (SELECT aggregator FROM state WHERE id = 1) "
                       "WHERE hash = ? AND EXISTS (SELECT 1 FROM state)"));
  TRY_STATUS(keep.bind(std::string_view(internals_->options.model_hash)).run());
  TRY(const std::uint64_t number, enter_model(database, next));
  // Each model begins with a new version, also where no update was judged on the former one.
  TRY(auto change,
      database.prepare(
          "INSERT INTO model_changes (iteration, version, model, time, checksum) SELECT coalesce((SELECT "
          "iteration FROM state), (SELECT iteration FROM model_changes ORDER BY id DESC LIMIT 1), "
          "0), coalesce((SELECT version FROM state), (SELECT version FROM model_changes ORDER BY "
          "id DESC LIMIT 1), 0) + 1, ?1, ?2, 0"));
  TRY_STATUS(change.bind(number).bind(time_ms).run());
  TRY_STATUS(
      database.run("UPDATE model_changes SET checksum = row_checksum(id, iteration, version, model, time)"));
  TRY(auto owner, database.prepare("UPDATE meta SET value = ?1, checksum = row_checksum(key, ?1) WHERE key = "
                                   "'model'"));
  TRY_STATUS(owner.bind(std::string_view(next.hash)).run());
  for (const char* table : {"DELETE FROM state", "DELETE FROM reference"}) {
    TRY(auto clear, database.prepare(table));
    TRY_STATUS(clear.run());
  }
  return {};
}

Status SqliteStore::write(const StoreCommit& commit) {
  for (const DeviceRecord& device : commit.devices) {
    TRY_STATUS(internals_->put_device.bind(device.id)
                   .bind(std::string_view(device.name))
                   .bind(device.window.highest())
                   .bind(device.window.judged_bits())
                   .bind(device.accepted)
                   .bind(device.rejected)
                   .bind(device.last_seen_ms)
                   .run());
  }
  for (const VerdictRecord& record : commit.verdicts) {
    TRY_STATUS(internals_->put_verdict.bind(record.iteration)
                   .bind(record.device)
                   .bind(record.sequence)
                   .bind(std::int64_t{record.verdict.accepted})
                   .bind(static_cast<std::int64_t>(record.verdict.reason))
                   .bind(record.verdict.distance)
                   .bind(record.verdict.bound)
                   .bind(record.base_version)
                   .bind(record.version)
                   .bind(record.verdict.delay)
                   .bind(record.time_ms)
                   .bind(record.verdict.altered)
                   .bind(std::int64_t{record.verdict.alterations})
                   .run());
  }
  TRY_STATUS(internals_->put_state.bind(commit.iteration)
                 .bind(commit.version)
                 .bind(commit.guard.empty() ? std::string_view(internals_->options.guard) : commit.guard)
                 .bind(commit.aggregator)
                 .run());
  if (!commit.reference.empty()) TRY_STATUS(internals_->put_reference.bind(commit.reference).run());
  if (const std::uint64_t keep = internals_->options.keep_verdicts; commit.iteration > keep) {
    TRY_STATUS(internals_->prune.bind(commit.iteration - keep)
                   .bind(commit.verdicts.size() + kClearedPerCommit)
                   .run());
  }
  return {};
}

Result<std::optional<VerdictRecord>> SqliteStore::find_verdict(ClientId device, std::uint64_t sequence) {
  SqliteStatement& find = internals_->find_verdict;
  auto found = find.bind(device).bind(sequence).step();
  std::optional<VerdictRecord> record;
  if (found.ok() && *found && find.integer(11) == 0) {
    found = corrupt(internals_->options.file.string() + ": row " + std::to_string(find.number(0)) +
                    " of table 'verdicts' does not match its checksum");
  } else if (found.ok() && *found) {
    record = VerdictRecord{.iteration = find.number(0),
                           .device = device,
                           .sequence = sequence,
                           .verdict = {.accepted = find.integer(1) != 0,
                                       .reason = static_cast<Reason>(find.integer(2)),
                                       .distance = find.real(3),
                                       .bound = find.real(4),
                                       .delay = find.number(7),
                                       .altered = find.real(9),
                                       .alterations = static_cast<std::uint32_t>(find.integer(10))},
                           .base_version = find.number(5),
                           .version = find.number(6),
                           .time_ms = find.integer(8)};
  }
  find.reset();
  if (!found.ok()) return found.error();
  return record;
}

Status SqliteStore::add_evaluation(const EvaluationRecord& evaluation) {
  return internals_->put_evaluation.bind(evaluation.iteration)
      .bind(evaluation.version)
      .bind(evaluation.test_error)
      .bind(evaluation.time_ms)
      .run();
}

}  // namespace aflguard::gateway
