#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace aflguard::testing {

struct MqttIdentity {
  std::filesystem::path certificate;
  std::filesystem::path key;
  std::filesystem::path authority;
};

/// A user with a name and a password instead of a certificate.
struct MqttUser {
  std::string name;
  std::string password;
  std::filesystem::path authority;
};

struct RawMessage {
  std::string topic;
  std::string payload;
  friend bool operator==(const RawMessage&, const RawMessage&) = default;
};

/// MQTT 3.1.1 over TLS by hand, on loopback: what an honest library would never send is possible here, and a
/// connection takes milliseconds. Waits at most some seconds for anything.
class RawMqttClient final {
 public:
  /// Connects with a clean session. Whether the broker took it: accepted().
  RawMqttClient(std::uint16_t port, const MqttIdentity& identity, const std::string& client_id,
                bool newest_tls = true);
  /// The same as a browser does it: over a WebSocket.
  RawMqttClient(std::uint16_t port, const MqttUser& user, const std::string& client_id);
  ~RawMqttClient();
  RawMqttClient(const RawMqttClient&) = delete;
  RawMqttClient& operator=(const RawMqttClient&) = delete;

  [[nodiscard]] bool accepted() const;
  /// Until the broker confirms it.
  void subscribe(const std::string& filter);
  /// With QoS 1, until the broker confirms it; false when the connection ends instead. A broker confirms what
  /// it does not allow, too.
  bool publish(const std::string& topic, const std::string& payload, bool retain = false);
  /// The next message; none when the connection ends or nothing comes for some seconds.
  std::optional<RawMessage> receive();
  /// True when the broker still answers a ping.
  bool alive();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What comes next is this.
void assert_next(RawMqttClient& client, const std::string& topic, const std::string& payload);

}  // namespace aflguard::testing
