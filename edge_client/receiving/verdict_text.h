#pragma once

#include <string>

#include "core/envelope/messages.h"

namespace aflguard::edge {

/// One line for the log: "verdict 17: accepted, version 204, delay 3".
[[nodiscard]] std::string verdict_line(const VerdictMessage& verdict);

}  // namespace aflguard::edge
