#pragma once

#include "lab/runs/experiment.h"

namespace aflguard::lab {

/// Every guard and attack that the lab knows: a new one is its own file and one line here.
[[nodiscard]] Catalog full_catalog();

}  // namespace aflguard::lab
