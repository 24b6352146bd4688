#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/tls_openssl/tls_files.h"
#include "core/transport/message_bus.h"

namespace aflguard {

enum class MqttProtocol : std::uint8_t {
  kAutomatic,  ///< MQTT 5, or 3.1.1 where the broker has no 5
  kMqtt5,
  kMqtt311,
};

struct MqttOptions {
  std::string host = "localhost";
  std::uint16_t port = 8883;
  std::string client_id;        ///< a name that no other client of the broker uses
  std::optional<TlsFiles> tls;  ///< without it the connection is plain: for tests on loopback
  std::optional<LastWill> last_will;
  MqttProtocol protocol = MqttProtocol::kAutomatic;
  std::chrono::seconds keep_alive{30};
  std::chrono::seconds connect_timeout{10};
  std::chrono::milliseconds shortest_backoff{500};
  std::chrono::milliseconds longest_backoff{60'000};
  std::uint64_t jitter_seed = 0;  ///< different on every device
  /// Received messages that wait for next_event(); what comes on top is dropped and counted.
  std::size_t max_queued_messages = 4096;
  std::size_t max_queued_bytes = 64u << 20;
  /// The same of one topic: beyond that its own oldest messages are dropped. Topics take turns.
  std::size_t max_queued_messages_per_topic = SIZE_MAX;
  std::size_t max_queued_bytes_per_topic = SIZE_MAX;
  /// When the queue is full, nothing is read from the broker for so long before something is dropped.
  /// Meanwhile publish() waits too, on every bus of this process (Paho has one lock): only for programs with
  /// one bus that call next_event() on another thread.
  std::chrono::milliseconds wait_for_room{0};
  /// Publishes that are on their way at a time.
  std::size_t max_publishes = 64;
  /// At least what one transfer has on its way at a time: Paho stalls for a second whenever it does not fit.
  int send_buffer_bytes = 256 << 10;
};

}  // namespace aflguard
