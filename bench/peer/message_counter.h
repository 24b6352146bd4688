#pragma once

#include <string>
#include <vector>

#include "bench/peer/peer.h"

namespace aflguard::bench {

/// The floor of watching: nothing but the Paho library, which receives what `filters` match at QoS 0 and
/// counts it. Returns when standard input ends; says "ready" when it is subscribed, and how many messages
/// came for every line that it reads.
[[nodiscard]] Status count_messages(const Identity& identity, const std::vector<std::string>& filters);

}  // namespace aflguard::bench
