#pragma once

#include "core/base/random.h"
#include "core/base/result.h"
#include "core/learning/data/dataset.h"

namespace aflguard::lab {

/// `size` different samples of `train`: round(shift * size) of class 0, the rest uniformly from the other
/// classes. kInvalidInput, with both counts, when there are not enough.
[[nodiscard]] Result<Dataset> draw_trusted_set(const Dataset& train, std::size_t size, double shift,
                                               Random& random);

}  // namespace aflguard::lab
