#include "core/book/book_schema.h"

#include <array>

namespace aflguard {
namespace {

constexpr const char* kApplication = "1094930498";  // "ADBK", in the header of the file
constexpr const char* kBookVersion = "1";

// Counts follow from triggers, so that every writer keeps them.
constexpr const char* kTables = R"sql(
CREATE TABLE book (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  identity TEXT NOT NULL,              -- random: tells this book from another one in its place
  revision INTEGER NOT NULL,           -- one more with every change
  devices INTEGER NOT NULL,
  active INTEGER NOT NULL              -- devices that are not revoked
);
CREATE TABLE devices (
  id INTEGER PRIMARY KEY,              -- in the order of enrolment
  name TEXT NOT NULL UNIQUE,
  revoked INTEGER NOT NULL,
  enrolled INTEGER NOT NULL,           -- seconds since 1970
  revision INTEGER NOT NULL,           -- of its latest change
  checksum INTEGER NOT NULL
);
CREATE INDEX devices_by_revision ON devices (revision);
CREATE INDEX revoked_devices ON devices (id) WHERE revoked = 1;
CREATE TABLE keys (
  device INTEGER NOT NULL REFERENCES devices(id),
  position INTEGER NOT NULL,           -- 0: the oldest
  key_id BLOB NOT NULL,                -- RFC 9679 thumbprint of the public key
  public_key BLOB NOT NULL,
  serial TEXT NOT NULL,                -- of the certificate, in hex
  not_after INTEGER NOT NULL,          -- the certificate's end, seconds since 1970
  checksum INTEGER NOT NULL,
  PRIMARY KEY (device, position)
) WITHOUT ROWID;
CREATE UNIQUE INDEX keys_by_id ON keys (key_id);
CREATE TRIGGER count_added AFTER INSERT ON devices BEGIN
  UPDATE book SET devices = devices + 1, active = active + 1 - NEW.revoked;
END;
CREATE TRIGGER count_revoked AFTER UPDATE OF revoked ON devices BEGIN
  UPDATE book SET active = active + OLD.revoked - NEW.revoked;
END;
)sql";

/// A statement that gives a row where something does not fit, and what that is.
struct RowCheck {
  const char* what;
  const char* sql;
};
constexpr std::array kRowChecks = {
    RowCheck{
        "a row of devices has changed",
        "SELECT 1 FROM devices WHERE checksum IS NOT row_checksum(id, name, revoked, enrolled, revision) "
        "LIMIT 1"},
    RowCheck{"a row of keys has changed",
             "SELECT 1 FROM keys WHERE checksum IS NOT row_checksum(device, position, key_id, public_key, "
             "serial, not_after) LIMIT 1"},
    RowCheck{"a key has no device",
             "SELECT 1 FROM keys WHERE device NOT IN (SELECT id FROM devices) LIMIT 1"},
    RowCheck{"a device has no key",
             "SELECT 1 FROM devices WHERE id NOT IN (SELECT device FROM keys) LIMIT 1"},
    RowCheck{
        "the number of devices is wrong",
        "SELECT 1 FROM book WHERE devices IS NOT (SELECT count(*) FROM devices) OR active IS NOT (SELECT "
        "count(*) FROM devices WHERE revoked = 0)"},
};

}  // namespace

Status make_book_tables(SqliteDatabase& database, std::string_view identity) {
  TRY_STATUS(database.run("BEGIN IMMEDIATE; PRAGMA application_id = " + std::string(kApplication) +
                          "; PRAGMA user_version = " + kBookVersion + ";" + kTables));
  TRY(auto insert, database.prepare("INSERT INTO book VALUES (1, ?, 0, 0, 0)"));
  TRY_STATUS(insert.bind(identity).run());
  return database.run("COMMIT");
}

Status check_book_version(SqliteDatabase& database) {
  TRY(const std::string application, database.query_text("PRAGMA application_id"));
  if (application != kApplication) return corrupt("it has other contents");
  TRY(const std::string version, database.query_text("PRAGMA user_version"));
  if (version == kBookVersion) return {};
  return unsupported("its version is " + version + ", this program knows " + kBookVersion +
                     ": a newer program wrote it");
}

Status check_book_content(SqliteDatabase& database) {
  TRY(const std::string structure, database.query_text("PRAGMA quick_check(1)"));
  if (structure != "ok") return corrupt(structure);
  for (const RowCheck& check : kRowChecks) {
    TRY(const std::string found, database.query_text(check.sql));
    if (!found.empty()) return corrupt(check.what);
  }
  return {};
}

}  // namespace aflguard
