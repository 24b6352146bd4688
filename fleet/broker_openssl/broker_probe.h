#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/tls_openssl/tls_connection.h"

namespace aflguard::fleet {

/// A broker, looked at from close by: MQTT 5 by hand over TLS, because its answers say what it allows, which
/// libraries keep to themselves. Every wait ends.
class BrokerProbe final {
 public:
  /// kUnavailable, in the broker's or OpenSSL's words, when there is no session. Without an identity the
  /// broker is sent no certificate.
  [[nodiscard]] static Result<std::unique_ptr<BrokerProbe>> connect(
      const std::string& host, std::uint16_t port, const std::string& authority_pem,
      const std::optional<TlsIdentity>& identity, std::chrono::seconds timeout);
  BrokerProbe(const BrokerProbe&) = delete;
  BrokerProbe& operator=(const BrokerProbe&) = delete;
  ~BrokerProbe();

  /// The largest packet that the broker says it takes; none when it does not say.
  [[nodiscard]] std::optional<std::uint32_t> largest_packet() const { return largest_packet_; }
  /// The highest quality of service that it takes: 0, 1 or 2.
  [[nodiscard]] unsigned highest_qos() const { return highest_qos_; }

  /// With QoS 1 and not retained. True when the broker takes it, false when it says that this is not allowed
  /// or hangs up.
  [[nodiscard]] Result<bool> publish(const std::string& topic, const std::string& payload);
  /// Until the broker has answered, whatever it answers.
  [[nodiscard]] Status subscribe(const std::string& filter);
  /// The topics of everything that the broker had sent when this was called.
  [[nodiscard]] Result<std::vector<std::string>> received();

 private:
  explicit BrokerProbe(TlsConnection connection) : connection_(std::move(connection)) {}
  struct Packet {
    std::uint8_t type = 0;  ///< with its flags
    std::vector<std::uint8_t> body;
  };
  [[nodiscard]] Status greet();
  [[nodiscard]] Status send(std::uint8_t type, const std::vector<std::uint8_t>& body);
  [[nodiscard]] Status read_bytes(std::uint8_t* bytes, std::size_t count);
  [[nodiscard]] Result<Packet> read_packet();
  /// The next packet of that type; messages that come before it are noted.
  [[nodiscard]] Result<Packet> wait_for(std::uint8_t type);
  void note(const Packet& message);

  IgnoredBrokenPipes guard_;
  TlsConnection connection_;
  std::uint16_t last_id_ = 0;
  std::optional<std::uint32_t> largest_packet_;
  unsigned highest_qos_ = 2;
  std::vector<std::string> topics_;
};

}  // namespace aflguard::fleet
