#include "gateway_server/telemetry/metrics_server.h"

#include "gateway_server/telemetry/health.h"
#include "gateway_server/telemetry/prometheus_text.h"

namespace aflguard::gateway {

void MetricsServer::show(GatewayMetrics metrics) {
  const std::lock_guard lock(mutex_);
  metrics_ = std::move(metrics);
}

Status MetricsServer::open(const std::string& address, LogSink& log) {
  TRY(listener_,
      HttpListener::open(
          address, [this](std::string_view path) { return answer(path); }, HttpListener::Limits()));
  log.info("metrics on port " + std::to_string(listener_->port()) + ", /metrics and /healthz");
  if (!listener_->on_loopback()) log.warning("/metrics is open to the network, without TLS and password");
  return {};
}

HttpReply MetricsServer::answer(std::string_view path) const {
  if (path == "/metrics") {
    Scrape scrape{.name = name_};
    {
      const std::lock_guard lock(mutex_);
      scrape.metrics = metrics_;
    }
    scrape.broker_connected = health_.connected();
    return {.type = kPrometheusType, .body = prometheus_text(counters_, scrape)};
  }
  if (path == "/healthz") {
    const auto found = health_.problems();
    return {.status = found.empty() ? 200 : 503, .type = "application/json", .body = health_json(found)};
  }
  return {.status = 404, .body = "there are /metrics and /healthz\n"};
}

}  // namespace aflguard::gateway
