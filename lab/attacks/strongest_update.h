#pragma once

#include <span>

#include "core/aggregation/guard.h"

namespace aflguard::lab {

/// Updates on the edge of what a guard accepts stay this much inside: float rounding would put some outside.
inline constexpr double kSafety = 1 - 1e-5;

struct StrongestUpdateOptions {
  double lambda = 1.5;  ///< AFLGuard's tolerance
  /// SpanGuard: 1 shapes the residual to what passes in the watched directions, 0 goes straight along the
  /// wish, 2 stays within these directions.
  double follow = 1;
};

/// Against each guard the update that it still accepts and that moves the model as far as it can along the
/// step theta -= eta * wish: what an attacker who knows rule, state and reference would send. Guards without
/// a rule here get the wish, a thousand times longer. `reference` may be null for guards that
/// need none. Lab only: the gateway has no use for it.
void strongest_update(const Guard& guard, const ReferenceUpdate* reference,
                      const StrongestUpdateOptions& options, std::span<const float> wish,
                      std::span<float> update);

}  // namespace aflguard::lab
