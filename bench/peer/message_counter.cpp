#include "bench/peer/message_counter.h"

#include <atomic>
#include <cstdio>
#include <iostream>

#include "core/transport_mqtt/paho_options.h"

namespace aflguard::bench {

Status count_messages(const Identity& identity, const std::vector<std::string>& filters) {
  const MqttOptions options = mqtt_options(identity);
  std::atomic<std::uint64_t> count{0};
  try {
    mqtt::async_client client(paho_server_uri(options), options.client_id,
                              mqtt::create_options(MQTTVERSION_5), nullptr);
    client.set_message_callback([&count](const mqtt::const_message_ptr&) { ++count; });
    client.connect(paho_connect_options(options, MQTTVERSION_5))->wait();
    for (const std::string& filter : filters) client.subscribe(filter, 0)->wait();
    std::printf("ready\n");
    std::fflush(stdout);
    for (std::string line; std::getline(std::cin, line);) {
      std::printf("done %llu\n", static_cast<unsigned long long>(count));
      std::fflush(stdout);
    }
    client.disconnect()->wait();
  } catch (const mqtt::exception& error) {
    return unavailable(error.what());
  }
  return {};
}

}  // namespace aflguard::bench
