#pragma once

#include <cstdint>
#include <span>

#include "core/aggregation/guard.h"

namespace aflguard::lab {

/// Updates on the edge of what a guard accepts stay this much inside: float rounding would put some outside.
inline constexpr double kSafety = 1 - 1e-5;

/// SpanGuard: which label mixture goes with the residual.
enum class SentMixture : std::uint8_t {
  kStrongest,  ///< that moves the model furthest along the wish
  kNone,       ///< no class at all
  kEven,       ///< every class alike, as an honest batch
  kLeast,      ///< a whole batch of the classes that help least: nothing negative
};

struct StrongestUpdateOptions {
  double lambda = 1.5;  ///< AFLGuard's tolerance
  /// SpanGuard: 1 shapes the residual to what passes in the watched directions, 0 goes straight along the
  /// wish, 2 stays within these directions, 3 avoids them.
  double follow = 1;
  SentMixture mixture = SentMixture::kStrongest;
  double length = 0;  ///< of the residual, in the clients' median lengths; 0: the longest that is accepted
  /// Share of the residual along the wish; what is missing to its length goes along `noise`.
  double spread = 1;
  std::span<const float> noise = {};
  bool unseen = false;  ///< SpanGuard 2: the residual does not show in its sketches, whose key is known
};

/// Against each guard the update that it still accepts and that moves the model as far as it can along the
/// step theta -= eta * wish: what an attacker who knows rule, state and reference would send. Guards without
/// a rule here get the wish, a thousand times longer. `reference` may be null for guards that
/// need none. Lab only: the gateway has no use for it.
void strongest_update(const Guard& guard, const ReferenceUpdate* reference,
                      const StrongestUpdateOptions& options, std::span<const float> wish,
                      std::span<float> update);

}  // namespace aflguard::lab
