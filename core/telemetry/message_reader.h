#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "fleet/view/fleet_state.h"

namespace aflguard {

/// The messages of docs/topics.md; none when the text is something else. Figures of a wrong kind count as not
/// known; texts are made harmless.
struct StatusMessage {
  view::DeviceState state = view::DeviceState::kUnknown;
  view::ReportedStatus words;
};
[[nodiscard]] std::optional<StatusMessage> read_device_status(std::string_view payload);

struct SummaryMessage {
  view::DeviceState state = view::DeviceState::kUnknown;
  view::DeviceRecord record;
};
[[nodiscard]] std::optional<SummaryMessage> read_device_summary(std::string_view payload);

struct ReportedGateway {
  std::string state;
  std::string message;
  std::string guard;
  std::string software;
};
[[nodiscard]] std::optional<ReportedGateway> read_gateway_status(std::string_view payload);

/// Into a picture of the gateway, whose words stay; false when it is something else.
[[nodiscard]] bool read_gateway_metrics(std::string_view payload, view::GatewayPicture& gateway);

[[nodiscard]] std::optional<view::FleetEvent> read_event(std::string_view payload);

}  // namespace aflguard
