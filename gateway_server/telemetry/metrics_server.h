#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/base/log.h"
#include "core/http/http_listener.h"
#include "core/telemetry/gateway_metrics.h"
#include "gateway_server/telemetry/gateway_health.h"
#include "gateway_server/telemetry/gateway_name.h"

namespace aflguard::gateway {

/// /metrics and /healthz for scrapers.
class MetricsServer final {
 public:
  /// Counters and health are borrowed.
  MetricsServer(GatewayName name, const GatewayCounters& counters, const GatewayHealth& health)
      : name_(std::move(name)), counters_(counters), health_(health) {}

  /// What /metrics shows beside the counters, until the next call. From any thread.
  void show(GatewayMetrics metrics);
  /// Listens on `address` (core/http/http_listener.h) until close(); says so in `log`.
  [[nodiscard]] Status open(const std::string& address, LogSink& log);
  void close() { listener_.reset(); }

  /// The reply to one request. From any thread.
  [[nodiscard]] HttpReply answer(std::string_view path) const;

 private:
  const GatewayName name_;
  const GatewayCounters& counters_;
  const GatewayHealth& health_;
  mutable std::mutex mutex_;
  GatewayMetrics metrics_;
  std::unique_ptr<HttpListener> listener_;  ///< last: its thread uses the others
};

}  // namespace aflguard::gateway
