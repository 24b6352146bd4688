#pragma once

#include "core/base/result.h"
#include "fleet/provisioning/provisioning.h"

namespace aflguard::cli {

/// Makes the broker read its files again, and prints whether there is one.
[[nodiscard]] Status tell_broker(const fleet::Fleet& fleet);

}  // namespace aflguard::cli
