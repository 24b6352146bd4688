#pragma once

#include "core/telemetry/gateway_metrics.h"
#include "gateway_server/judging/gateway_counters.h"

namespace aflguard::gateway {

/// Puts what the gateway's threads have counted beside the figures that `metrics` already holds, of which
/// reference_version gives the reference its age.
void add_counters(GatewayMetrics& metrics, const GatewayCounters& counters);

}  // namespace aflguard::gateway
