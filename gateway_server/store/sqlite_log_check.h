#pragma once

#include <filesystem>

#include "core/base/result.h"

namespace aflguard::gateway {

/// Looks for damage in a SQLite write-ahead log (`FILE-wal`). SQLite itself takes the first frame that does
/// not fit for the end of the log, as after a power loss, and forgets what was committed behind it. A power
/// loss cannot do that to a transaction that another one follows, because each is synced before the next
/// begins: that is damage. kCorrupt then. A missing or empty log is in order.
[[nodiscard]] Status check_write_ahead_log(const std::filesystem::path& log);

}  // namespace aflguard::gateway
