#include "core/book/book_source.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <sys/stat.h>

#include "core/book/book_schema.h"
#include "core/system/file_descriptor.h"

namespace aflguard {
namespace fs = std::filesystem;
namespace {

constexpr int kAttempts = 5;

fs::path journal_of(const fs::path& path) {
  return path.string() + "-journal";
}

/// What tells a file from one that is put in its place; with `content`, also from itself after a change.
std::string file_stamp(const fs::path& path, bool content) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return "-";
  std::string stamp = std::to_string(info.st_dev) + "." + std::to_string(info.st_ino);
  if (content) {
    stamp += "." + std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec) + "." +
             std::to_string(info.st_size);
  }
  return stamp;
}

std::string new_identity() {
  std::random_device random;
  return std::to_string(std::uint64_t{random()} << 32 | random());
}

Status about(const fs::path& path, const Status& status) {
  if (status.ok()) return status;
  const Error& reason = status.error();
  // A file of something else has no such tables.
  const bool damaged = reason.kind == ErrorKind::kCorrupt || reason.kind == ErrorKind::kInternal;
  if (!damaged) return at(path.string(), reason);
  return corrupt(path.string() + " is not a device book: " + reason.message + "; restore it from a backup");
}

/// One file, and nothing beside it between two changes. Readers wait only while a change is put in place:
/// what does not fit into the cache stays in memory until then.
Status set_up(SqliteDatabase& database) {
  return database.run(
      "PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA; PRAGMA foreign_keys = ON; PRAGMA "
      "cache_spill "
      "= OFF; PRAGMA cache_size = -16384");
}

/// The file and its journal in a new folder, which nothing else finds. Opening them takes back what
/// was not finished.
Result<SqliteDatabase> open_copy(const fs::path& path) {
  std::error_code error;
  std::string folder = (fs::temp_directory_path(error) / "aflguard-book.XXXXXX").string();
  if (error || ::mkdtemp(folder.data()) == nullptr) {
    return io_error("cannot make a folder for a copy of " + path.string() + ": " + std::strerror(errno));
  }
  const fs::path copy = fs::path(folder) / "book.db";
  const auto fill = [&]() -> Result<SqliteDatabase> {
    fs::copy_file(path, copy, error);
    if (!error) fs::copy_file(journal_of(path), journal_of(copy), error);
    if (error) return io_error("cannot copy " + path.string() + ": " + error.message());
    TRY(auto database, SqliteDatabase::open(copy, SqliteDatabase::Access::kReadWrite));
    TRY_STATUS(about(path, check_book_version(database)));
    return database;
  };
  auto database = fill();
  fs::remove_all(folder, error);  // the open file stays until it is closed
  return database;
}

}  // namespace

fs::path device_book_path(const fs::path& configured) {
  return configured.extension() == ".json" ? fs::path(configured).replace_extension(".db") : configured;
}

fs::path json_device_book_path(const fs::path& book) {
  return fs::path(book).replace_extension(".json");
}

std::string BookSource::stamp_of(const fs::path& path, Kind kind) {
  switch (kind) {
    case Kind::kTable:
      return file_stamp(path, false);
    case Kind::kCopy:
      return file_stamp(path, true) + " " + file_stamp(journal_of(path), true);
    case Kind::kMemory:
      return file_stamp(path, false) + " " + file_stamp(json_device_book_path(path), true);
  }
  return {};
}

Result<SqliteDatabase> make_book_file(const fs::path& path) {
  // As other files of the fleet, 0666 less the umask; the database and its journal keep that.
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file.valid()) {
    const std::string text = "cannot make " + path.string() + ": " + std::strerror(errno);
    return errno == EEXIST ? invalid_input(text) : io_error(text);
  }
  file.close();
  TRY(auto database, SqliteDatabase::open(path, SqliteDatabase::Access::kReadWrite));
  TRY_STATUS(set_up(database));
  TRY_STATUS(make_book_tables(database, new_identity()));
  return database;
}

Result<BookSource> open_book_file(const fs::path& path, SqliteDatabase::Access access) {
  std::error_code error;
  if (!fs::exists(path, error)) return not_found("there is no device book " + path.string());
  std::string stamp = BookSource::stamp_of(path, BookSource::Kind::kTable);
  TRY(auto database, SqliteDatabase::open(path, access));
  TRY_STATUS(about(path, check_book_version(database)));
  if (access == SqliteDatabase::Access::kReadWrite) TRY_STATUS(about(path, set_up(database)));
  return BookSource{BookSource::Kind::kTable, path, std::move(stamp), std::move(database)};
}

Result<BookSource> open_book_to_read(const fs::path& path) {
  for (int attempt = 1;; ++attempt) {
    auto table = open_book_file(path, SqliteDatabase::Access::kReadOnly);
    std::error_code error;
    const bool interrupted =
        !table.ok() && table.error().kind == ErrorKind::kIo && fs::exists(journal_of(path), error);
    if (!interrupted || attempt == kAttempts) return table;
    std::string stamp = BookSource::stamp_of(path, BookSource::Kind::kCopy);
    auto copy = open_copy(path);
    // A writer may have tidied up in between.
    if (copy.ok() && stamp == BookSource::stamp_of(path, BookSource::Kind::kCopy)) {
      return BookSource{BookSource::Kind::kCopy, path, std::move(stamp), std::move(*copy)};
    }
  }
}

Result<BookSource> open_book_in_memory(const fs::path& path) {
  std::string stamp = BookSource::stamp_of(path, BookSource::Kind::kMemory);
  TRY(auto database, SqliteDatabase::open(":memory:", SqliteDatabase::Access::kReadWrite));
  TRY_STATUS(make_book_tables(database, new_identity()));
  return BookSource{BookSource::Kind::kMemory, path, std::move(stamp), std::move(database)};
}

}  // namespace aflguard
