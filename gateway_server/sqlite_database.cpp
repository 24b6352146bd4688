#include "gateway_server/sqlite_database.h"

#include <sqlite3.h>
#include <utility>

namespace aflguard {
namespace {

Error sqlite_error(sqlite3* database, int code) {
  const char* file = database == nullptr ? nullptr : sqlite3_db_filename(database, "main");
  const std::string text = std::string(file == nullptr || *file == '\0' ? "database" : file) + ": " +
                           (database == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(database));
  switch (code & 0xFF) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return corrupt(text);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return unavailable(text);
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return io_error(text);
    default:
      return internal_error(text);
  }
}

}  // namespace

SqliteStatement::SqliteStatement(SqliteStatement&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      bound_(other.bound_) {}

SqliteStatement& SqliteStatement::operator=(SqliteStatement&& other) noexcept {
  std::swap(database_, other.database_);
  std::swap(statement_, other.statement_);
  std::swap(bound_, other.bound_);
  return *this;
}

SqliteStatement::~SqliteStatement() {
  sqlite3_finalize(statement_);
}

SqliteStatement& SqliteStatement::bind(std::int64_t value) {
  sqlite3_bind_int64(statement_, ++bound_, value);
  return *this;
}

SqliteStatement& SqliteStatement::bind(double value) {
  sqlite3_bind_double(statement_, ++bound_, value);
  return *this;
}

SqliteStatement& SqliteStatement::bind(std::string_view text) {
  sqlite3_bind_text64(statement_, ++bound_, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

SqliteStatement& SqliteStatement::bind(std::span<const std::byte> bytes) {
  sqlite3_bind_blob64(statement_, ++bound_, bytes.data(), bytes.size(), SQLITE_STATIC);
  return *this;
}

Result<bool> SqliteStatement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return sqlite_error(database_, code);
}

Status SqliteStatement::run() {
  const auto done = step();
  reset();
  if (!done) return done.error();
  return {};
}

void SqliteStatement::reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  bound_ = 0;
}

std::int64_t SqliteStatement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double SqliteStatement::real(int column) const {
  return sqlite3_column_double(statement_, column);
}

std::string SqliteStatement::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  return text == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(text));
}

std::span<const std::byte> SqliteStatement::blob(int column) const {
  const auto* bytes = static_cast<const std::byte*>(sqlite3_column_blob(statement_, column));
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

Result<SqliteDatabase> SqliteDatabase::open(const std::filesystem::path& path, Access access) {
  const int flags =
      access == Access::kReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  SqliteDatabase database(handle);
  if (code != SQLITE_OK) return at(path.string(), sqlite_error(nullptr, code));
  sqlite3_busy_timeout(handle, 5000);
  sqlite3_extended_result_codes(handle, 1);
  return database;
}

SqliteDatabase::SqliteDatabase(SqliteDatabase&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

SqliteDatabase::~SqliteDatabase() {
  sqlite3_close_v2(database_);
}

Status SqliteDatabase::run(const std::string& sql) {
  const int code = sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return sqlite_error(database_, code);
  return {};
}

Result<SqliteStatement> SqliteDatabase::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(database_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return sqlite_error(database_, code);
  return SqliteStatement(database_, statement);
}

Result<std::string> SqliteDatabase::query_text(std::string_view sql) {
  TRY(auto statement, prepare(sql));
  TRY(const bool found, statement.step());
  return found ? statement.text(0) : std::string();
}

}  // namespace aflguard
