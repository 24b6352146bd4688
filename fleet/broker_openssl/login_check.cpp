#include "fleet/broker_openssl/login_check.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <optional>
#include <poll.h>
#include <vector>

#include "core/tls_openssl/tls_connection.h"

namespace aflguard::fleet {
namespace {

/// MQTT 3.1.1: CONNECT with a clean session and ten seconds of keep-alive.
std::vector<std::uint8_t> connect_packet(const std::string& client_id) {
  std::vector<std::uint8_t> packet = {
      0x10, static_cast<std::uint8_t>(12 + client_id.size()), 0, 4, 'M', 'Q', 'T', 'T', 4, 0x02, 0, 10,
      0,    static_cast<std::uint8_t>(client_id.size())};
  packet.insert(packet.end(), client_id.begin(), client_id.end());
  return packet;
}

/// What the broker said when it ended the connection; kUnavailable when it said nothing in time.
Result<BrokerAnswer> refusal(SSL* connection, int returned) {
  if (SSL_get_error(connection, returned) == SSL_ERROR_WANT_READ || errno == EAGAIN) {
    ERR_clear_error();
    return unavailable("the broker does not answer in time");
  }
  const unsigned long code = ERR_peek_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return BrokerAnswer{.accepted = false,
                      .revoked = ERR_GET_LIB(code) == ERR_LIB_SSL &&
                                 ERR_GET_REASON(code) == SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED,
                      .reason = reason == nullptr ? "it hung up" : reason};
}

/// In TLS 1.3 this side is done before the broker has looked at the certificate. Its next words are a session
/// ticket or a refusal: a client that sends before it has read them may lose them to a reset connection. A
/// broker that sends no tickets is silent; then the first packet's answer decides.
std::optional<BrokerAnswer> early_refusal(SSL* connection) {
  constexpr int kSilenceMilliseconds = 500;
  const int socket = SSL_get_fd(connection);
  pollfd readable{socket, POLLIN, 0};
  if (::poll(&readable, 1, kSilenceMilliseconds) != 1) return std::nullopt;
  const int flags = ::fcntl(socket, F_GETFL);
  ::fcntl(socket, F_SETFL, flags | O_NONBLOCK);
  std::uint8_t byte = 0;
  const int returned = SSL_peek(connection, &byte, 1);
  auto answer = returned > 0 ? Result<BrokerAnswer>(BrokerAnswer{}) : refusal(connection, returned);
  ::fcntl(socket, F_SETFL, flags);
  if (returned > 0 || !answer.ok()) return std::nullopt;  // it waits for what we say
  return *answer;
}

/// CONNECT, the answer, DISCONNECT.
Result<BrokerAnswer> ask_for_session(SSL* connection) {
  const auto packet = connect_packet("aflguard");
  std::array<std::uint8_t, 4> answer{};
  errno = 0;
  int done = SSL_write(connection, packet.data(), static_cast<int>(packet.size()));
  if (done > 0) done = SSL_read(connection, answer.data(), static_cast<int>(answer.size()));
  if (done <= 0) return refusal(connection, done);
  if (done != 4 || answer[0] != 0x20 || answer[3] != 0) {
    return BrokerAnswer{.reason = "MQTT refuses with code " + std::to_string(answer[3])};
  }
  const std::array<std::uint8_t, 2> goodbye = {0xe0, 0};
  (void)SSL_write(connection, goodbye.data(), static_cast<int>(goodbye.size()));
  return BrokerAnswer{.accepted = true, .revoked = false, .reason = {}};
}

}  // namespace

Result<BrokerAnswer> knock_at_broker(const std::string& host, std::uint16_t port,
                                     const std::string& authority_pem, const Credential& credential,
                                     std::chrono::seconds timeout) {
  const IgnoredBrokenPipes guard;
  const TlsIdentity identity{credential.certificate.pem, credential.private_pem};
  TRY(const TlsConnection connection, TlsConnection::prepare(host, port, authority_pem, identity, timeout));
  errno = 0;
  if (const int done = SSL_connect(connection.get()); done != 1) {
    const long verified = SSL_get_verify_result(connection.get());
    if (verified == X509_V_OK) return refusal(connection.get(), done);
    ERR_clear_error();
    return unavailable("what answers at " + host + ":" + std::to_string(port) +
                       " is not this fleet's broker: " + X509_verify_cert_error_string(verified));
  }
  if (auto refused = early_refusal(connection.get())) return *refused;
  return ask_for_session(connection.get());
}

}  // namespace aflguard::fleet
