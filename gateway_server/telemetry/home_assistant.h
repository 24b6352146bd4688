#pragma once

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/base/rate_budget.h"
#include "core/transport/message_bus.h"
#include "core/transport/topics.h"
#include "gateway_server/intake/live_registry.h"
#include "gateway_server/telemetry/gateway_name.h"

namespace aflguard::gateway {

/// Home Assistant's MQTT discovery: retained messages that say which sensors there are and where their
/// values come from (gateway/metrics, gateway/devices/<device>, up/<device>/status). It reads those itself.
/// One thread.
class HomeAssistant final {
 public:
  using Time = RateBudget::Time;
  struct Sensor;

  /// `prefix` is Home Assistant's, usually "homeassistant".
  HomeAssistant(const FleetTopics& topics, GatewayName name, std::string prefix);

  /// The broker may be a new one, which retains nothing: the gateway's sensors go again, and follow()
  /// announces every device again.
  void broker_changed();
  /// Announces a device that is new.
  void add(std::string_view device);
  /// Takes back the sensors of a device that was announced.
  void remove(std::string_view device);
  /// remove() for every announced device that is not `enrolled`, add() for every one that is.
  void follow(const LiveRegistry::Names& enrolled);

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
  std::set<std::string, std::less<>> announced_;  ///< devices
};

}  // namespace aflguard::gateway
