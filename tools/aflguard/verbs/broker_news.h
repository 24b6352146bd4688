#pragma once

#include "core/base/result.h"
#include "fleet/provisioning/provisioning.h"

namespace aflguard::tools {

/// Makes the broker read its files again, and prints whether there is one.
[[nodiscard]] Status tell_broker(const Fleet& fleet);

}  // namespace aflguard::tools
