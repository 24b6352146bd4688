#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace aflguard {

/// A prepared statement. bind() in order, step(), read columns, reset().
class SqliteStatement final {
 public:
  SqliteStatement() = default;
  SqliteStatement(SqliteStatement&& other) noexcept;
  SqliteStatement& operator=(SqliteStatement&& other) noexcept;
  ~SqliteStatement();

  SqliteStatement& bind(std::int64_t value);
  SqliteStatement& bind(std::uint64_t value) { return bind(static_cast<std::int64_t>(value)); }
  SqliteStatement& bind(double value);
  /// Borrowed until reset().
  SqliteStatement& bind(std::string_view text);
  SqliteStatement& bind(std::span<const std::byte> bytes);

  /// True when there is a row.
  [[nodiscard]] Result<bool> step();
  /// Runs a statement that gives no rows, and resets it.
  [[nodiscard]] Status run();
  void reset();

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::uint64_t number(int column) const { return static_cast<std::uint64_t>(integer(column)); }
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::span<const std::byte> blob(int column) const;  ///< until the next step() or reset()

 private:
  friend class SqliteDatabase;
  SqliteStatement(sqlite3* database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}
  sqlite3* database_ = nullptr;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

/// One connection. SQL knows one function more: row_checksum(VALUE, ...), an integer that differs whenever a
/// single number or eight neighbouring bytes of a value differ. Errors carry the file's name: kCorrupt when
/// it is damaged or no database, kIo when the disk is full or fails, kUnavailable when another process holds
/// it.
class SqliteDatabase final {
 public:
  /// kFrozen: reading a file that is not written and that has no write-ahead log; leaves nothing beside it.
  enum class Access : std::uint8_t { kReadWrite, kReadOnly, kFrozen };
  [[nodiscard]] static Result<SqliteDatabase> open(const std::filesystem::path& path, Access access);
  SqliteDatabase(SqliteDatabase&& other) noexcept;
  SqliteDatabase& operator=(SqliteDatabase&&) = delete;
  ~SqliteDatabase();

  /// One or more statements without parameters and results.
  [[nodiscard]] Status run(const std::string& sql);
  [[nodiscard]] Result<SqliteStatement> prepare(std::string_view sql);
  /// The first column of the only row.
  [[nodiscard]] Result<std::string> query_text(std::string_view sql);

 private:
  explicit SqliteDatabase(sqlite3* database) : database_(database) {}
  sqlite3* database_;
};

}  // namespace aflguard
