#pragma once

#include <cstdint>
#include <string>

#include "core/envelope/messages.h"

namespace aflguard::edge {

/// The name of a reason in a verdict: the guard's below 64, refusals from 64 on (docs/wire-format.md). A
/// device links no guard, so it has the names only; numbers that it does not know yet become "reason-N".
[[nodiscard]] std::string reason_name(std::uint8_t reason);

/// One line for the log: "verdict 17: accepted, version 204, delay 3".
[[nodiscard]] std::string verdict_line(const VerdictMessage& verdict);

}  // namespace aflguard::edge
