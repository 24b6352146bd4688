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
};

/// Since schema 3. Each gives a row that was changed by something else than this program, if there is one.
struct RowCheck {
  const char* table;
  const char* sql;
};
constexpr std::array kRowChecks = {
    RowCheck{"reference", "SELECT id FROM reference WHERE checksum IS NOT row_checksum(bytes) LIMIT 1"},
    RowCheck{"state",
             "SELECT id FROM state WHERE checksum IS NOT "
             "row_checksum(iteration, version, guard, aggregator) LIMIT 1"},
    RowCheck{"devices",
             "SELECT id FROM devices WHERE checksum IS NOT row_checksum(id, name, "
             "highest_sequence, judged_bits, accepted, rejected, last_seen) LIMIT 1"},
    RowCheck{"verdicts",
             "SELECT iteration FROM verdicts WHERE checksum IS NOT row_checksum(iteration, "
             "device, sequence, accepted, reason, distance, bound, base_version, version, "
             "delay, time, altered, alterations) LIMIT 1"},
    RowCheck{"evaluations",
             "SELECT iteration FROM evaluations WHERE checksum IS NOT "
             "row_checksum(iteration, version, test_error, time) LIMIT 1"},
};
constexpr std::size_t kFirstWithChecksums = 3;

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
    const std::string version = std::to_string(step + 1);
    TRY_STATUS(database.run("BEGIN IMMEDIATE;" + std::string(kMigrations[step]) +
                            "PRAGMA user_version = " + version + "; COMMIT;"));
  }
  return {};
}

Status check_content(SqliteDatabase& database) {
  const auto report = database.query_text("PRAGMA quick_check(1)");
  if (!report) return report.error();
  if (*report != std::string("ok")) return corrupt(*report);
  TRY(const std::size_t version, schema_version(database));
  if (version < kFirstWithChecksums) {
    TRY(const std::string newer,
        database.query_text("SELECT name FROM sqlite_master WHERE name = 'reference'"));
    if (newer.empty()) return {};
    return corrupt("schema version " + std::to_string(version) + " with tables of a later one");
  }
  for (const RowCheck& check : kRowChecks) {
    TRY(const std::string row, database.query_text(check.sql));
    if (!row.empty()) {
      return corrupt("row " + row + " of table '" + check.table + "' does not match its checksum");
    }
  }
  return {};
}

}  // namespace aflguard::gateway
