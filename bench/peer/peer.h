#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/transport_mqtt/mqtt_bus.h"

namespace aflguard::bench {

/// Where and as whom to connect.
struct Identity {
  std::filesystem::path folder;  ///< holds ca.crt, <role>.crt and <role>.key
  std::string role;              ///< "device", "gateway" or a viewer's name
  std::string name;              ///< as the certificate says
  std::string host;
  std::uint16_t port = 0;
  std::string fleet;
};

/// When something was complete, on the clock that all processes of this machine share.
using Moments = std::vector<std::chrono::steady_clock::time_point>;

[[nodiscard]] MqttOptions mqtt_options(const Identity& identity);

/// A bus that is connected and has subscribed to `filter`.
[[nodiscard]] Result<std::unique_ptr<MqttBus>> connect(const MqttOptions& options, const std::string& filter,
                                                       LogSink& log);
[[nodiscard]] inline Result<std::unique_ptr<MqttBus>> connect(const Identity& identity,
                                                              const std::string& filter, LogSink& log) {
  return connect(mqtt_options(identity), filter, log);
}

}  // namespace aflguard::bench
