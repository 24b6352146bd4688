#pragma once

#include "gateway_server/sqlite_database.h"

namespace aflguard {

/// Brings a database from whatever version it has to the newest, each step in a transaction of its own.
/// kUnsupported when a newer program wrote it.
[[nodiscard]] Status migrate(SqliteDatabase& database);

}  // namespace aflguard
