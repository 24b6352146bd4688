#pragma once

#include "lab/attacks/attack.h"

namespace aflguard::lab {

// Data poisoning: honest arithmetic on false data.
[[nodiscard]] AttackKind label_flip_kind();  ///< lf
[[nodiscard]] AttackKind backdoor_kind();    ///< bd

// Update poisoning.
[[nodiscard]] AttackKind gauss_kind();
[[nodiscard]] AttackKind gradient_deviation_kind();  ///< gd

// Readings of the paper's adaptive attack.
[[nodiscard]] AttackKind adapt_reverse_kind();
[[nodiscard]] AttackKind adapt_fang_kind();
[[nodiscard]] AttackKind adapt_sign_kind();
[[nodiscard]] AttackKind adapt_boundary_kind();

// Attackers who know guard, state and reference: own, own-blind, own-fixed, own-alternating, own-noise,
// own-late, own-class, and sybil.
[[nodiscard]] std::vector<AttackKind> own_kinds();

// Cheap tests of a guard's nerves: not-finite, zero, replay, all-equal.
[[nodiscard]] std::vector<AttackKind> nuisance_kinds();

}  // namespace aflguard::lab
