#pragma once

#include <span>

#include "core/aggregation/guard_kind.h"

namespace aflguard {

/// The guards that there are: lab, gateway, demo, benchmarks and help texts go through this list. A new guard
/// is one file in this folder and one line in all_guards.inc (docs/lab.md, "Add a guard").
[[nodiscard]] std::span<const GuardKind> all_guards();

}  // namespace aflguard
