#pragma once

#include <mqtt/async_client.h>
#include <string>

#include "core/transport_mqtt/mqtt_options.h"

namespace aflguard {

/// At least once: what is published arrives, perhaps twice.
inline constexpr int kQos = 1;

/// Our options as Paho wants them, for one version of the protocol (MQTTVERSION_5 or MQTTVERSION_3_1_1).
[[nodiscard]] mqtt::connect_options paho_connect_options(const MqttOptions& options, int version);
[[nodiscard]] std::string paho_server_uri(const MqttOptions& options);

}  // namespace aflguard
