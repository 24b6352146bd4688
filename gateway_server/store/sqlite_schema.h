#pragma once

#include "core/sqlite/sqlite_database.h"

namespace aflguard::gateway {

/// Brings a database of any older version to the newest, each step in one transaction.
/// kUnsupported when a newer program wrote it.
[[nodiscard]] Status migrate(SqliteDatabase& database);

/// Reads everything: structure, and since schema 3 every row against its checksum. kCorrupt with what does
/// not fit, kUnsupported when a newer program wrote it. Writes nothing.
[[nodiscard]] Status check_content(SqliteDatabase& database);

}  // namespace aflguard::gateway
