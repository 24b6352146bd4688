#include "core/telemetry/gateway_status.h"

#include "core/base/identifier.h"
#include "core/base/short_text.h"
#include "core/telemetry/json_reading.h"
#include "core/telemetry/json_writing.h"
#include "core/telemetry/schemas.h"

namespace aflguard {

std::string to_json(const GatewayStatus& status) {
  return json_text({{"schema", kGatewayStatusSchema},
                    {"state", to_string(status.state)},
                    {"fleet", status.fleet},
                    {"guard", status.guard},
                    {"software", status.software},
                    {"message", shortened(status.message, kMaxWrittenText)}});
}

std::optional<GatewayStatus> read_gateway_status(std::string_view payload) {
  const auto json = parse_message(payload, kGatewayStatusSchema);
  if (!json) return std::nullopt;
  const GatewayState state = parse_gateway_state(text_field(*json, "state"));
  if (state == GatewayState::kUnknown) return std::nullopt;
  return GatewayStatus{.state = state,
                       .fleet = text_field(*json, "fleet", kMaxIdentifierLength),
                       .guard = text_field(*json, "guard", kMaxReadName),
                       .software = text_field(*json, "software", kMaxReadName),
                       .message = text_field(*json, "message")};
}

}  // namespace aflguard
