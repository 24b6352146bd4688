#pragma once

#include <string>

namespace aflguard::gateway {

/// Who publishes gateway/status and gateway/metrics.
struct GatewayName {
  std::string fleet;
  std::string guard;
  std::string software;
};

}  // namespace aflguard::gateway
