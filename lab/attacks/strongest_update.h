#pragma once

#include <span>

#include "core/aggregation/guard.h"
#include "lab/tasks/settings.h"

namespace aflguard::lab {

/// Against each guard the update that it still accepts and that moves the model as far as it can along the
/// step theta -= eta * wish: what an attacker who knows rule, state and reference would send. Guards without
/// a rule of their own here get the wish, a thousand times longer. `reference` may be null for guards that
/// need none. Lab only: the gateway has no use for it.
void strongest_update(const Guard& guard, const ReferenceUpdate* reference,
                      const ExperimentSettings& settings, std::span<const float> wish,
                      std::span<float> update);

}  // namespace aflguard::lab
