#pragma once

#include <optional>
#include <string>

#include "fleet/monitor/frame.h"

namespace aflguard::view {

/// The bytes that make a terminal which shows `before` show `after`: only what differs is written, so nothing
/// flickers. Everything is written where there is no `before`, or it had another size.
[[nodiscard]] std::string frame_diff(const std::optional<Frame>& before, const Frame& after, bool colour);

}  // namespace aflguard::view
