#pragma once

#include <string>
#include <vector>

namespace aflguard::gateway {

/// What /healthz says: healthy when there are no problems.
[[nodiscard]] std::string health_json(const std::vector<std::string>& problems);

}  // namespace aflguard::gateway
