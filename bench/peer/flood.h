#pragma once

#include "bench/peer/peer.h"

namespace aflguard::bench {

/// One device that publishes small messages on its update topic as fast as its connection takes them, until
/// its standard input ends or has a line. Returns how many.
[[nodiscard]] Result<std::uint64_t> flood(const Identity& identity, LogSink& log);

}  // namespace aflguard::bench
