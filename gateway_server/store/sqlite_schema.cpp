#include "gateway_server/store/sqlite_schema.h"

#include <array>

namespace aflguard::gateway {
namespace {

/// Step i brings version i to i + 1. Released steps are never edited; a change is one more step.
constexpr std::array kMigrations = {
    // 1: the tables.
    R"sql(
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  iteration INTEGER NOT NULL,          -- updates judged
  version INTEGER NOT NULL,            -- of the model
  guard TEXT NOT NULL,                 -- the rule and its settings
  aggregator BLOB NOT NULL             -- model, reference and filter state
);
CREATE TABLE devices (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  highest_sequence INTEGER NOT NULL,
  judged_bits INTEGER NOT NULL,        -- bit i: highest_sequence - i was judged
  accepted INTEGER NOT NULL,
  rejected INTEGER NOT NULL,
  last_seen INTEGER NOT NULL           -- milliseconds since 1970
);
CREATE TABLE verdicts (
  iteration INTEGER PRIMARY KEY,
  device INTEGER NOT NULL REFERENCES devices(id),
  sequence INTEGER NOT NULL,
  accepted INTEGER NOT NULL,
  reason INTEGER NOT NULL,             -- core/verdict/verdict.h
  distance REAL,                       -- null: not a number
  bound REAL,
  base_version INTEGER NOT NULL,
  version INTEGER NOT NULL,            -- of the model after it
  delay INTEGER NOT NULL,
  time INTEGER NOT NULL                -- milliseconds since 1970
);
CREATE UNIQUE INDEX verdicts_by_update ON verdicts (device, sequence);
CREATE TABLE evaluations (
  iteration INTEGER PRIMARY KEY,
  version INTEGER NOT NULL,
  test_error REAL NOT NULL,
  time INTEGER NOT NULL
);
)sql",
    // 2: guards that change what they accept.
    R"sql(
ALTER TABLE verdicts ADD COLUMN altered REAL NOT NULL DEFAULT 0;           -- share of the update's length
ALTER TABLE verdicts ADD COLUMN alterations INTEGER NOT NULL DEFAULT 0;    -- bits: core/verdict/verdict.h
)sql",
    // 3: the reference update apart, because it changes rarely; every row with a checksum.
    R"sql(
CREATE TABLE reference (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  bytes BLOB NOT NULL,                 -- the server update that the state names
  checksum INTEGER NOT NULL
);
ALTER TABLE state ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE devices ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE verdicts ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE evaluations ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE state SET checksum = row_checksum(iteration, version, guard, aggregator);
UPDATE devices SET checksum =
  row_checksum(id, name, highest_sequence, judged_bits, accepted, rejected, last_seen);
UPDATE verdicts SET checksum = row_checksum(iteration, device, sequence, accepted, reason, distance, bound,
  base_version, version, delay, time, altered, alterations);
UPDATE evaluations SET checksum = row_checksum(iteration, version, test_error, time);
)sql",
    // 4: the past at falling resolution (gateway_server/history/history_points.h). In the order of time, so
    // that what
    // is written together lies together.
    R"sql(
CREATE TABLE history_fleet (
  step INTEGER NOT NULL,               -- milliseconds
  time INTEGER NOT NULL,               -- its beginning, milliseconds since 1970
  version INTEGER NOT NULL,            -- at its end
  accepted INTEGER NOT NULL,
  rejected INTEGER NOT NULL,
  refused INTEGER NOT NULL,
  delay_sum INTEGER NOT NULL,
  test_error REAL,
  PRIMARY KEY (step, time)
) WITHOUT ROWID;
CREATE TABLE history_devices (
  step INTEGER NOT NULL,
  time INTEGER NOT NULL,
  device INTEGER NOT NULL,
  accepted INTEGER NOT NULL,
  rejected INTEGER NOT NULL,
  delay_sum INTEGER NOT NULL,
  measured INTEGER NOT NULL,           -- updates whose distance and bound are in the sums
  distance_sum REAL NOT NULL,
  bound_sum REAL NOT NULL,
  PRIMARY KEY (step, time, device)
) WITHOUT ROWID;
)sql",
    // 5: a checksum for the rows that had none; a name for this very store.
    R"sql(
ALTER TABLE meta ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE history_fleet ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE history_devices ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
INSERT INTO meta (key, value) VALUES ('store', lower(hex(randomblob(16))));
UPDATE meta SET checksum = row_checksum(key, value);
UPDATE history_fleet SET checksum =
  row_checksum(step, time, version, accepted, rejected, refused, delay_sum, test_error);
UPDATE history_devices SET checksum =
  row_checksum(step, time, device, accepted, rejected, delay_sum, measured, distance_sum, bound_sum);
)sql",
    // 6: the models of the fleet, one after the other.
    R"sql(
CREATE TABLE models (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  aggregator BLOB,                     -- model and guard when the fleet left it; null: it did not
  checksum INTEGER NOT NULL
);
CREATE TABLE model_changes (
  id INTEGER PRIMARY KEY,
  iteration INTEGER NOT NULL,          -- verdicts above it are about this model
  version INTEGER NOT NULL,            -- its first one
  model INTEGER NOT NULL REFERENCES models(number),
  time INTEGER NOT NULL,               -- milliseconds since 1970
  checksum INTEGER NOT NULL
);
)sql",
};

/// From this version on, rows have checksums; from the next one on, every row, and the schema, too.
constexpr std::size_t kFirstWithChecksums = 3;
constexpr std::size_t kFirstWithAllChecksums = 5;
constexpr std::size_t kFirstWithModels = 6;

/// Names and definitions of everything in the database, with the schema's version, as one number.
constexpr const char* kSchemaSum =
    "(SELECT row_checksum((SELECT user_version FROM pragma_user_version), group_concat(line, char(10))) "
    "FROM (SELECT type || ' ' || name || ' ' || tbl_name || ' ' || coalesce(sql, '') AS line FROM "
    "sqlite_master WHERE name NOT LIKE 'sqlite_stat%' ORDER BY type, name))";

/// Each gives a row that was changed by something else than this program, if there is one.
struct RowCheck {
  std::size_t since;  ///< version of the schema
  const char* table;
  const char* sql;
};
constexpr std::array kRowChecks = {
    RowCheck{kFirstWithChecksums, "reference",
             "SELECT id FROM reference WHERE checksum IS NOT row_checksum(bytes) LIMIT 1"},
    RowCheck{kFirstWithChecksums, "state",
             "SELECT id FROM state WHERE checksum IS NOT "
             "row_checksum(iteration, version, guard, aggregator) LIMIT 1"},
    RowCheck{kFirstWithChecksums, "devices",
             "SELECT id FROM devices WHERE checksum IS NOT row_checksum(id, name, "
             "highest_sequence, judged_bits, accepted, rejected, last_seen) LIMIT 1"},
    RowCheck{kFirstWithChecksums, "verdicts",
             "SELECT iteration FROM verdicts WHERE checksum IS NOT row_checksum(iteration, "
             "device, sequence, accepted, reason, distance, bound, base_version, version, "
             "delay, time, altered, alterations) LIMIT 1"},
    RowCheck{kFirstWithChecksums, "evaluations",
             "SELECT iteration FROM evaluations WHERE checksum IS NOT "
             "row_checksum(iteration, version, test_error, time) LIMIT 1"},
    RowCheck{kFirstWithAllChecksums, "meta",
             "SELECT key FROM meta WHERE checksum IS NOT row_checksum(key, value) LIMIT 1"},
    RowCheck{kFirstWithAllChecksums, "history_fleet",
             "SELECT step || ' ' || time FROM history_fleet WHERE checksum IS NOT row_checksum(step, time, "
             "version, accepted, rejected, refused, delay_sum, test_error) LIMIT 1"},
    RowCheck{kFirstWithAllChecksums, "history_devices",
             "SELECT step || ' ' || time || ' ' || device FROM history_devices WHERE checksum IS NOT "
             "row_checksum(step, time, device, accepted, rejected, delay_sum, measured, distance_sum, "
             "bound_sum) LIMIT 1"},
    RowCheck{kFirstWithModels, "models",
             "SELECT number FROM models WHERE checksum IS NOT row_checksum(number, name, hash, aggregator) "
             "LIMIT 1"},
    RowCheck{kFirstWithModels, "model_changes",
             "SELECT id FROM model_changes WHERE checksum IS NOT row_checksum(id, iteration, version, model, "
             "time) LIMIT 1"},
};

/// Tables that tell which version a schema has at least, whatever its number says.
struct Witness {
  std::size_t version;
  const char* sql;
};
constexpr std::array kWitnesses = {
    Witness{1, "SELECT name FROM sqlite_master LIMIT 1"},
    Witness{3, "SELECT name FROM sqlite_master WHERE name = 'reference'"},
    Witness{4, "SELECT name FROM sqlite_master WHERE name = 'history_fleet'"},
    Witness{5, "SELECT name FROM pragma_table_info('meta') WHERE name = 'checksum'"},
    Witness{6, "SELECT name FROM sqlite_master WHERE name = 'model_changes'"},
};

/// What must be so among the rows: every judged update has its verdict, and counts for its device. Rows that
/// fit their checksums and not each other are of different times, as when a log is lost while it is moved
/// into the file.
constexpr std::array kTruths = {
    std::pair{"the verdicts do not follow each other without a gap",
              "SELECT 1 FROM (SELECT count(*) AS n, max(iteration) AS last, min(iteration) AS first FROM "
              "verdicts) WHERE n > 0 AND last - first + 1 != n"},
    std::pair{"the newest verdict is not the one that the state names",
              "SELECT 1 FROM state WHERE iteration != (SELECT max(iteration) FROM verdicts)"},
    std::pair{"the devices' counts do not add up to the updates judged",
              "SELECT 1 FROM state WHERE iteration != (SELECT coalesce(sum(accepted + rejected), 0) FROM "
              "devices)"},
};

Result<std::size_t> schema_version(SqliteDatabase& database) {
  TRY(const std::string text, database.query_text("PRAGMA user_version"));
  const std::size_t found = std::stoul(text.empty() ? "0" : text);
  if (found > kMigrations.size()) {
    TRY(const std::string file, database.query_text("SELECT file FROM pragma_database_list LIMIT 1"));
    return unsupported(file + ": its schema has version " + text + ", this program knows up to " +
                       std::to_string(kMigrations.size()) + "; use the newer program that wrote it");
  }
  return found;
}

}  // namespace

Status migrate(SqliteDatabase& database) {
  TRY(const std::size_t found, schema_version(database));
  for (std::size_t step = found; step < kMigrations.size(); ++step) {
    const std::size_t version = step + 1;
    std::string sql = "BEGIN IMMEDIATE;" + std::string(kMigrations[step]) +
                      "PRAGMA user_version = " + std::to_string(version) + ";";
    if (version >= kFirstWithAllChecksums) {
      sql +=
          "INSERT OR REPLACE INTO meta (key, value, checksum) SELECT 'schema', sum, row_checksum('schema', "
          "sum) FROM (SELECT CAST(" +
          std::string(kSchemaSum) + " AS TEXT) AS sum);";
    }
    TRY_STATUS(database.run(sql + "COMMIT;"));
  }
  return {};
}

namespace {

Status check_rows(SqliteDatabase& database, std::size_t version) {
  for (const RowCheck& check : kRowChecks) {
    if (version < check.since) continue;
    TRY(const std::string row, database.query_text(check.sql));
    if (!row.empty()) {
      return corrupt("row " + row + " of table '" + check.table + "' does not match its checksum");
    }
  }
  return {};
}

Status check_schema(SqliteDatabase& database, std::size_t version) {
  if (version < kFirstWithAllChecksums) return {};
  TRY(const std::string known, database.query_text("SELECT value FROM meta WHERE key = 'schema'"));
  TRY(const std::string sum, database.query_text("SELECT CAST(" + std::string(kSchemaSum) + " AS TEXT)"));
  if (known == sum) return {};
  return corrupt("its tables are not defined as this program defines them");
}

}  // namespace

Status check_content(SqliteDatabase& database) {
  // Reads every page, and looks every row up in the indexes.
  const auto report = database.query_text("PRAGMA integrity_check(1)");
  if (!report) return report.error();
  if (*report != std::string("ok")) return corrupt(*report);
  TRY(const std::size_t version, schema_version(database));
  for (const Witness& witness : kWitnesses) {
    if (version >= witness.version) continue;
    TRY(const std::string newer, database.query_text(witness.sql));
    if (newer.empty()) continue;
    return corrupt("schema version " + std::to_string(version) + " with tables of a later one");
  }
  TRY_STATUS(check_schema(database, version));
  TRY_STATUS(check_rows(database, version));
  for (const auto& [problem, sql] : kTruths) {
    if (version < kFirstWithAllChecksums) continue;
    TRY(const std::string broken, database.query_text(sql));
    if (!broken.empty()) return corrupt(problem);
  }
  return {};
}

}  // namespace aflguard::gateway
