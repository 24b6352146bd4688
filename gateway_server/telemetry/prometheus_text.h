#pragma once

#include <string>

#include "gateway_server/judging/gateway_counters.h"
#include "gateway_server/telemetry/telemetry.h"

namespace aflguard::gateway {

/// What /metrics needs beside the facts of the last interval.
struct ScrapeFacts {
  TelemetryFacts facts;
  bool broker_connected = false;
};

/// All metrics in Prometheus's text format 0.0.4. What is not known has no sample.
[[nodiscard]] std::string prometheus_text(const GatewayCounters& counters, const ScrapeFacts& scrape);

inline constexpr const char* kPrometheusType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace aflguard::gateway
