#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/telemetry/states.h"

namespace aflguard {

/// gateway/status: how the gateway is, by its own account or by its last will.
struct GatewayStatus {
  GatewayState state = GatewayState::kUnknown;
  std::string fleet{};
  std::string guard{};
  std::string software{};
  std::string message{};
};

/// One line of JSON, below 4 KB.
[[nodiscard]] std::string to_json(const GatewayStatus& status);

/// None when the text is something else or its state has no known name. Texts are made harmless for a
/// terminal.
[[nodiscard]] std::optional<GatewayStatus> read_gateway_status(std::string_view payload);

}  // namespace aflguard
