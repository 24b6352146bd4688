#include "core/sqlite/sqlite_database.h"

#include <bit>
#include <cstring>
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
    case SQLITE_NOMEM:
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

/// Word by word, each step reversible in the word and in what came before: one changed word changes the
/// result.
class Checksum final {
 public:
  void add(std::uint64_t word) { sum_ = (std::rotl(sum_, 29) ^ word) * 0x9E3779B97F4A7C15U; }
  void add(const void* bytes, std::size_t size) {
    add(size);
    const auto* at = static_cast<const unsigned char*>(bytes);
    for (; size > 0; at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      const std::size_t taken = std::min(size, sizeof word);
      std::memcpy(&word, at, taken);
      add(word);
      size -= taken;
    }
  }
  [[nodiscard]] std::uint64_t sum() const { return sum_; }

 private:
  std::uint64_t sum_ = 0x243F6A8885A308D3U;
};

void row_checksum(sqlite3_context* context, int count, sqlite3_value** values) {
  Checksum checksum;
  for (int i = 0; i < count; ++i) {
    const int type = sqlite3_value_type(values[i]);
    checksum.add(static_cast<std::uint64_t>(type));
    if (type == SQLITE_INTEGER) {
      checksum.add(static_cast<std::uint64_t>(sqlite3_value_int64(values[i])));
    } else if (type == SQLITE_FLOAT) {  // SQLite keeps -0 as 0
      checksum.add(std::bit_cast<std::uint64_t>(sqlite3_value_double(values[i]) + 0.0));
    } else if (type != SQLITE_NULL) {
      const void* bytes = sqlite3_value_blob(values[i]);
      checksum.add(bytes, static_cast<std::size_t>(sqlite3_value_bytes(values[i])));
    }
  }
  sqlite3_result_int64(context, static_cast<std::int64_t>(checksum.sum()));
}

/// A file name as SQLite's URIs want it.
std::string frozen_uri(const std::filesystem::path& path) {
  std::string uri = "file:";
  for (const char c : path.string()) {
    if (c == '%' || c == '?' || c == '#') {
      constexpr std::string_view kDigits = "0123456789ABCDEF";
      uri += {'%', kDigits[static_cast<unsigned char>(c) >> 4], kDigits[static_cast<unsigned char>(c) & 15]};
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
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
  const bool frozen = access == Access::kFrozen;
  const int flags = access == Access::kReadWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                                 : SQLITE_OPEN_READONLY | (frozen ? SQLITE_OPEN_URI : 0);
  const std::string name = frozen ? frozen_uri(path) : path.string();
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  SqliteDatabase database(handle);
  if (code != SQLITE_OK) return at(path.string(), sqlite_error(nullptr, code));
  sqlite3_busy_timeout(handle, 5000);
  sqlite3_extended_result_codes(handle, 1);
  if (access != Access::kReadWrite) sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_create_function_v2(handle, "row_checksum", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr,
                             row_checksum, nullptr, nullptr, nullptr);
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
