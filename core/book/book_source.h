#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/result.h"
#include "core/sqlite/sqlite_database.h"

namespace aflguard {

/// Where the table is for a setting that may still name the JSON file of an older version: beside it.
[[nodiscard]] std::filesystem::path device_book_path(const std::filesystem::path& configured);
/// Where an older version had the same book.
[[nodiscard]] std::filesystem::path json_device_book_path(const std::filesystem::path& book);

/// A database that a book is read from or written to.
struct BookSource {
  enum class Kind : std::uint8_t {
    kTable,   ///< the file itself
    kCopy,    ///< a copy of one that a killed writer left in the middle of a change, without that change
    kMemory,  ///< the devices of a JSON book
  };
  Kind kind = Kind::kTable;
  std::filesystem::path path;
  std::string stamp;  ///< of the files when they were opened
  SqliteDatabase database;

  /// False when other files are there now.
  [[nodiscard]] bool is_current() const { return stamp == stamp_of(path, kind); }
  [[nodiscard]] static std::string stamp_of(const std::filesystem::path& path, Kind kind);
};

/// An empty book in a new file; kInvalidInput when there is one.
[[nodiscard]] Result<SqliteDatabase> make_book_file(const std::filesystem::path& path);
/// For the only writer. kNotFound when there is no file.
[[nodiscard]] Result<BookSource> open_book_file(const std::filesystem::path& path,
                                                SqliteDatabase::Access access);
/// For a reader that must not write: a change that was interrupted is taken back in a copy.
[[nodiscard]] Result<BookSource> open_book_to_read(const std::filesystem::path& path);
/// An empty book in memory, for what is at json_device_book_path(path).
[[nodiscard]] Result<BookSource> open_book_in_memory(const std::filesystem::path& path);

}  // namespace aflguard
