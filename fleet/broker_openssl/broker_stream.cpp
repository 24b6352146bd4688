#include "fleet/broker_openssl/broker_stream.h"

#include <cerrno>
#include <fcntl.h>
#include <openssl/err.h>

#include "core/identity_openssl/x509_text.h"
#include "core/system/file_descriptor.h"
#include "core/tls_openssl/broker_socket.h"

namespace aflguard::fleet {

struct BrokerStream::State {
  OpensslContext context;
  FileDescriptor socket;
  OpensslConnection connection;
};

namespace {

Result<OpensslContext> make_context(const std::string& authority_pem) {
  OpensslContext context(SSL_CTX_new(TLS_client_method()));
  const OpensslCertificate authority = certificate_from_pem(authority_pem);
  if (!context || !authority || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1 ||
      X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), authority.get()) != 1) {
    return openssl_error(ErrorKind::kInternal, "OpenSSL cannot prepare a connection");
  }
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  // What could not be written at once may lie elsewhere when it is written again.
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return context;
}

/// 0 when the other side has nothing or no room; an error when it is gone.
Result<std::size_t> outcome(SSL* connection, int returned, std::size_t done) {
  if (returned > 0) return done;
  const int reason = SSL_get_error(connection, returned);
  ERR_clear_error();
  if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE) return std::size_t{0};
  return unavailable("the broker ended the connection");
}

}  // namespace

BrokerStream::BrokerStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
BrokerStream::BrokerStream(BrokerStream&&) noexcept = default;
BrokerStream& BrokerStream::operator=(BrokerStream&&) noexcept = default;
BrokerStream::~BrokerStream() = default;

Result<BrokerStream> BrokerStream::connect(const std::string& host, std::uint16_t port,
                                           const std::string& authority_pem, std::chrono::seconds timeout) {
  TRY(auto context, make_context(authority_pem));
  TRY(FileDescriptor socket, open_connection(host, port, timeout));
  OpensslConnection connection(SSL_new(context.get()));
  if (!connection || SSL_set_fd(connection.get(), socket.get()) != 1) {
    return openssl_error(ErrorKind::kInternal, "OpenSSL cannot start a connection");
  }
  TRY_STATUS(expect_host(connection.get(), host));
  if (SSL_connect(connection.get()) != 1) {
    const long verified = SSL_get_verify_result(connection.get());
    ERR_clear_error();
    return unavailable(
        "what answers at " + host + ":" + std::to_string(port) + " is not this fleet's broker" +
        (verified == X509_V_OK ? "" : std::string(": ") + X509_verify_cert_error_string(verified)));
  }
  ::fcntl(socket.get(), F_SETFL, ::fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
  return BrokerStream(
      std::unique_ptr<State>(new State{std::move(context), std::move(socket), std::move(connection)}));
}

int BrokerStream::descriptor() const {
  return state_->socket.get();
}

bool BrokerStream::pending() const {
  return SSL_pending(state_->connection.get()) > 0;
}

Result<std::size_t> BrokerStream::read(std::span<char> to) {
  std::size_t done = 0;
  const int returned = SSL_read_ex(state_->connection.get(), to.data(), to.size(), &done);
  return outcome(state_->connection.get(), returned, done);
}

Result<std::size_t> BrokerStream::write(std::span<const char> from) {
  std::size_t done = 0;
  const int returned = SSL_write_ex(state_->connection.get(), from.data(), from.size(), &done);
  return outcome(state_->connection.get(), returned, done);
}

}  // namespace aflguard::fleet
