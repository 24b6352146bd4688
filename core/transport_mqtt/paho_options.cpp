#include "core/transport_mqtt/paho_options.h"

namespace aflguard {

namespace {

/// Paho has no setting for TLS 1.3 and nothing older. Its list of cipher suites holds for TLS 1.2 and below
/// only: a suite that needs a shared secret, which it is not given, leaves 1.3 as the only version to offer.
constexpr const char* kNoSuiteBelowTls13 = "PSK-AES128-GCM-SHA256";

/// No error handler: Paho C++ 1.2 looks for it in its options while the handshake runs, and those are gone
/// when connect() has returned. tls_diagnosis() finds what was wrong.
mqtt::ssl_options tls_options(const TlsFiles& tls) {
  mqtt::ssl_options ssl;
  ssl.set_trust_store(tls.ca_file.string());
  ssl.set_key_store(tls.certificate_file.string());
  ssl.set_private_key(tls.key_file.string());
  ssl.set_enable_server_cert_auth(true);
  ssl.set_verify(true);  // the host's name
  ssl.set_enabled_cipher_suites(kNoSuiteBelowTls13);
  return ssl;
}

}  // namespace

std::string paho_server_uri(const MqttOptions& options) {
  const bool is_ipv6 = options.host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? "[" + options.host + "]" : options.host;
  return (options.tls ? "ssl://" : "tcp://") + host + ":" + std::to_string(options.port);
}

mqtt::connect_options paho_connect_options(const MqttOptions& options, int version) {
  mqtt::connect_options connect;
  connect.set_mqtt_version(version);
  if (version >= MQTTVERSION_5) {
    connect.set_clean_start(true);
  } else {
    connect.set_clean_session(true);
  }
  connect.set_keep_alive_interval(options.keep_alive);
  connect.set_connect_timeout(options.connect_timeout);
  connect.set_max_inflight(static_cast<int>(options.max_publishes));
  connect.set_automatic_reconnect(false);  // it would not subscribe again, nor change the protocol
  if (options.last_will) {
    const Message& will = options.last_will->message;
    connect.set_will(
        mqtt::will_options(will.topic, will.payload.data(), will.payload.size(), kQos, will.retained));
  }
  if (options.tls) connect.set_ssl(tls_options(*options.tls));
  return connect;
}

}  // namespace aflguard
