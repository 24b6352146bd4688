#pragma once

#include <memory>

#include "core/base/log.h"
#include "core/transport/message_bus.h"
#include "core/transport_mqtt/mqtt_options.h"

namespace aflguard {

/// A message bus over MQTT, by way of the Paho library. Its own thread connects, subscribes and
/// reconnects, endlessly, with growing and jittered waits; sessions are clean, so nothing relies on what a
/// broker remembers. publish() and wake() may be called from any thread.
class MqttBus final : public MessageBus {
 public:
  /// kInvalidInput when an option makes no sense or a TLS file is missing. `log` is borrowed; it is written
  /// to from the bus's threads.
  [[nodiscard]] static Result<std::unique_ptr<MqttBus>> create(const MqttOptions& options, LogSink& log);
  ~MqttBus() override;

  [[nodiscard]] Status start() override;
  [[nodiscard]] Status subscribe(const std::string& filter) override;
  [[nodiscard]] Status subscribe_if_allowed(const std::string& filter) override;
  void unsubscribe(const std::string& filter) override;
  [[nodiscard]] Result<PublishId> publish(const Message& message) override;
  [[nodiscard]] std::optional<BusEvent> next_event(std::chrono::steady_clock::time_point deadline) override;
  void wake() override;
  void stop() override;
  [[nodiscard]] BusCounters counters() const override;
  [[nodiscard]] std::map<std::string, std::uint64_t> take_dropped() override;

 private:
  class Connection;
  explicit MqttBus(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace aflguard
