#pragma once

#include <chrono>
#include <cstdint>
#include <openssl/ssl.h>
#include <string>
#include <utility>

#include "core/base/result.h"
#include "core/identity_openssl/openssl_handles.h"

namespace aflguard {

using OpensslContext = std::unique_ptr<SSL_CTX, OpensslFree<SSL_CTX_free>>;
using OpensslConnection = std::unique_ptr<SSL, OpensslFree<SSL_free>>;

/// A socket that closes itself.
class Socket final {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&&) = delete;
  Socket(const Socket&) = delete;
  ~Socket();
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

/// TCP to the broker; reading and writing fail after `patience`. kUnavailable when nobody answers.
[[nodiscard]] Result<Socket> open_connection(const std::string& host, std::uint16_t port,
                                             std::chrono::seconds timeout);

/// The peer's certificate has to name `host`, an address or a name.
[[nodiscard]] Status expect_host(SSL* connection, const std::string& host);

}  // namespace aflguard
