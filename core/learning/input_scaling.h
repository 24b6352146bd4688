#pragma once

#include "core/learning/data/dataset.h"
#include "core/learning/model_description.h"

namespace aflguard {

/// Mean and standard deviation of every feature over all samples; where a feature never changes, a deviation
/// of 1.
[[nodiscard]] InputScaling measure_scaling(const Dataset& data);

}  // namespace aflguard
