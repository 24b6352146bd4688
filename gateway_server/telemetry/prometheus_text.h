#pragma once

#include <string>

#include "core/telemetry/gateway_metrics.h"
#include "gateway_server/judging/gateway_counters.h"
#include "gateway_server/telemetry/gateway_name.h"

namespace aflguard::gateway {

/// What /metrics shows beside the counters.
struct Scrape {
  GatewayName name;
  GatewayMetrics metrics{};  ///< as last published
  bool broker_connected = false;
};

/// All metrics in Prometheus's text format 0.0.4. What is not known has no sample.
[[nodiscard]] std::string prometheus_text(const GatewayCounters& counters, const Scrape& scrape);

inline constexpr const char* kPrometheusType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace aflguard::gateway
