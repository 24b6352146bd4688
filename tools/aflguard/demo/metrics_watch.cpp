#include "tools/aflguard/demo/metrics_watch.h"

#include <nlohmann/json.hpp>

#include "core/transport/topics.h"
#include "core/transport_mqtt/mqtt_bus.h"
#include "fleet/folder/viewer_identity.h"

namespace aflguard::cli {
namespace {

/// A broker that goes away shows elsewhere.
class NoLog final : public LogSink {
 public:
  void write(LogLevel, std::string_view) override {}
};

}  // namespace

MetricsWatch::MetricsWatch(std::unique_ptr<LogSink> log, std::unique_ptr<MessageBus> bus)
    : log_(std::move(log)), bus_(std::move(bus)) {}
MetricsWatch::MetricsWatch(MetricsWatch&&) noexcept = default;

MetricsWatch::~MetricsWatch() {
  if (bus_) bus_->stop();
}

Result<MetricsWatch> MetricsWatch::start(const fleet::FleetSettings& settings,
                                         const fleet::FleetFolder& folder) {
  TRY(const FleetTopics topics, FleetTopics::create(settings.name));
  const fleet::ViewerIdentity identity = fleet::viewer_identity(settings, folder, kViewer);
  MqttOptions options;
  options.host = identity.host;
  options.port = identity.port;
  options.client_id = identity.name;
  options.tls = TlsFiles{identity.authority(), identity.certificate(), identity.key()};
  auto log = std::make_unique<NoLog>();
  TRY(auto bus, MqttBus::create(options, *log));
  TRY_STATUS(bus->subscribe(topics.gateway_metrics()));
  TRY_STATUS(bus->start());
  return MetricsWatch(std::move(log), std::move(bus));
}

void MetricsWatch::refresh() {
  while (const auto event = bus_->next_event({})) {
    const auto* received = std::get_if<BusReceived>(&*event);
    if (received == nullptr) continue;
    const auto& payload = received->message.payload;
    const auto* text = reinterpret_cast<const char*>(payload.data());
    const auto json = nlohmann::json::parse(text, text + payload.size(), nullptr, /*allow_exceptions=*/false);
    const auto refused = json.is_object() ? json.find("refused") : json.end();
    if (!json.is_object() || refused == json.end() || !refused->is_object()) continue;
    refused_.clear();
    for (const auto& [reason, count] : refused->items()) {
      if (count.is_number_unsigned()) refused_[reason] = count.get<std::uint64_t>();
    }
  }
}

}  // namespace aflguard::cli
