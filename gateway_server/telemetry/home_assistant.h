#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/rate_budget.h"
#include "core/transport/message_bus.h"
#include "core/transport/topics.h"
#include "gateway_server/telemetry/gateway_name.h"

namespace aflguard::gateway {

/// Home Assistant's MQTT discovery: retained messages that tell it which sensors there are and where their
/// values come from (gateway/metrics, gateway/devices/<device>, up/<device>/status). It reads those itself.
/// One thread.
class HomeAssistant final {
 public:
  using Time = RateBudget::Time;
  struct Sensor;

  /// `prefix` is Home Assistant's, usually "homeassistant".
  HomeAssistant(const FleetTopics& topics, GatewayName name, std::string prefix);

  /// The gateway's own sensors; again whenever there is a new broker.
  void announce_gateway();
  void announce(std::string_view device);
  /// Takes a device's sensors back.
  void withdraw(std::string_view device);

  /// The next message to publish, if one may go now.
  [[nodiscard]] std::optional<Message> next(Time now);

 private:
  [[nodiscard]] std::string topic(std::string_view owner, const Sensor& sensor) const;
  [[nodiscard]] std::string unique(std::string_view owner) const;
  [[nodiscard]] Message gateway_message(const Sensor& sensor) const;
  [[nodiscard]] Message device_message(std::string_view device, const Sensor& sensor) const;

  const FleetTopics topics_;
  const GatewayName name_;
  const std::string prefix_;
  RateBudget budget_;
  std::deque<Message> waiting_;
};

}  // namespace aflguard::gateway
