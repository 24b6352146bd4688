#pragma once

#include <string_view>

namespace aflguard {

/// The `schema` of each JSON topic (docs/topics.md). Its number rises when a field changes its meaning or
/// goes away.
inline constexpr std::string_view kDeviceStatusSchema = "aflguard-device-status-1";
inline constexpr std::string_view kGatewayStatusSchema = "aflguard-gateway-status-1";
inline constexpr std::string_view kGatewayMetricsSchema = "aflguard-gateway-metrics-1";
inline constexpr std::string_view kDeviceSummarySchema = "aflguard-device-summary-1";
inline constexpr std::string_view kFleetEventSchema = "aflguard-event-1";
inline constexpr std::string_view kRolloutSchema = "aflguard-rollout-1";
inline constexpr std::string_view kFleetAlertSchema = "aflguard-alert-1";
inline constexpr std::string_view kHistoryQuestionSchema = "aflguard-history-question-1";
inline constexpr std::string_view kHistoryAnswerSchema = "aflguard-history-1";

}  // namespace aflguard
