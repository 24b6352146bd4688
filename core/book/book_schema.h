#pragma once

#include "core/sqlite/sqlite_database.h"

namespace aflguard {

/// Makes the tables of a new book, in one transaction; `identity` tells it from other books.
[[nodiscard]] Status make_book_tables(SqliteDatabase& database, std::string_view identity);

/// kCorrupt when the database is not a device book, kUnsupported when a newer program wrote it.
[[nodiscard]] Status check_book_version(SqliteDatabase& database);

/// Reads everything: structure, and every row against its checksum. kCorrupt with what does not fit.
[[nodiscard]] Status check_book_content(SqliteDatabase& database);

}  // namespace aflguard
