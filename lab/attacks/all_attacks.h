#pragma once

#include <span>

#include "lab/attacks/attack.h"

namespace aflguard::lab {

/// The attacks that there are: the lab, the malicious client, the demo and help texts go through this list. A
/// new attack is one file in this folder and one line in all_attacks.inc (docs/lab.md, "Add an attack").
[[nodiscard]] std::span<const AttackKind> all_attacks();

}  // namespace aflguard::lab
