#include "gateway_server/sqlite_schema.h"

#include <array>

namespace aflguard {
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
  reason INTEGER NOT NULL,             -- core/aggregation/verdict.h
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
ALTER TABLE verdicts ADD COLUMN alterations INTEGER NOT NULL DEFAULT 0;    -- bits: core/aggregation/verdict.h
)sql",
};

}  // namespace

Status migrate(SqliteDatabase& database) {
  TRY(const std::string text, database.query_text("PRAGMA user_version"));
  const unsigned long found = std::stoul(text.empty() ? "0" : text);
  if (found > kMigrations.size()) {
    TRY(const std::string file, database.query_text("SELECT file FROM pragma_database_list LIMIT 1"));
    return unsupported(file + ": its schema has version " + text + ", this program knows up to " +
                       std::to_string(kMigrations.size()) + "; use the newer program that wrote it");
  }
  for (std::size_t step = found; step < kMigrations.size(); ++step) {
    const std::string version = std::to_string(step + 1);
    TRY_STATUS(database.run("BEGIN IMMEDIATE;" + std::string(kMigrations[step]) +
                            "PRAGMA user_version = " + version + "; COMMIT;"));
  }
  return {};
}

}  // namespace aflguard
