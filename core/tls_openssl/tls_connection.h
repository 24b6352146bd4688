#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/base/result.h"
#include "core/tls_openssl/broker_socket.h"

namespace aflguard {

/// OpenSSL writes to sockets without MSG_NOSIGNAL: a broker that hangs up would end this program.
class IgnoredBrokenPipes final {
 public:
  IgnoredBrokenPipes() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, &before_);
  }
  IgnoredBrokenPipes(const IgnoredBrokenPipes&) = delete;
  IgnoredBrokenPipes& operator=(const IgnoredBrokenPipes&) = delete;
  ~IgnoredBrokenPipes() { ::sigaction(SIGPIPE, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

/// Both in PEM.
struct TlsIdentity {
  std::string certificate;
  std::string private_key;
};

/// A TCP connection to a broker with TLS 1.3 on top, before the handshake: that is SSL_connect() on get().
class TlsConnection final {
 public:
  /// Expects the host that is connected to, vouched for by the authority. Without an identity it sends no
  /// certificate. kUnavailable when nothing listens at the address; every wait of the connection ends after
  /// `timeout`.
  [[nodiscard]] static Result<TlsConnection> prepare(const std::string& host, std::uint16_t port,
                                                     const std::string& authority_pem,
                                                     const std::optional<TlsIdentity>& identity,
                                                     std::chrono::seconds timeout);
  [[nodiscard]] SSL* get() const { return connection_.get(); }

 private:
  TlsConnection(FileDescriptor socket, OpensslContext context, OpensslConnection connection)
      : socket_(std::move(socket)), context_(std::move(context)), connection_(std::move(connection)) {}
  FileDescriptor socket_;
  OpensslContext context_;
  OpensslConnection connection_;  ///< gone before its socket is
};

}  // namespace aflguard
