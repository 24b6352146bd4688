#include "gateway_server/telemetry/health.h"

#include <nlohmann/json.hpp>

namespace aflguard::gateway {

using Json = nlohmann::ordered_json;

std::string health_json(const std::vector<std::string>& problems) {
  const Json json = {{"schema", "aflguard-health-1"}, {"healthy", problems.empty()}, {"problems", problems}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace aflguard::gateway
