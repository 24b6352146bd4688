#pragma once

#include <span>
#include <string>

#include "core/aggregation/guard_kind.h"
#include "core/base/result.h"

namespace aflguard::cli {

/// Runs a gateway's recording (a file, or a folder of segments) through the guard it was made with and says
/// whether every verdict agrees. kInvalidInput, so that the command fails, when one does not.
[[nodiscard]] Status print_replay(const std::string& recording, bool json, std::span<const GuardKind> guards);

}  // namespace aflguard::cli
