#include "core/tls_openssl/broker_socket.h"

#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/identity_openssl/x509_text.h"

namespace aflguard {
namespace {

using Addresses = std::unique_ptr<addrinfo, OpensslFree<::freeaddrinfo>>;

}  // namespace

Result<FileDescriptor> open_connection(const std::string& host, std::uint16_t port,
                                       std::chrono::seconds timeout) {
  const std::string place = host + ":" + std::to_string(port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int problem = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
      problem != 0) {
    return unavailable("cannot find the broker's host " + host + ": " + ::gai_strerror(problem));
  }
  const Addresses addresses(found);
  const timeval limit{static_cast<time_t>(timeout.count()), 0};
  int problem = ECONNREFUSED;
  for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
    FileDescriptor made(::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol));
    if (!made.valid()) continue;
    ::setsockopt(made.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(made.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (::connect(made.get(), at->ai_addr, at->ai_addrlen) == 0) return made;
    problem = errno == EINPROGRESS ? ETIMEDOUT : errno;
  }
  return unavailable("cannot reach the broker at " + place + ": " + std::strerror(problem));
}

Status expect_host(SSL* connection, const std::string& host) {
  X509_VERIFY_PARAM* const rules = SSL_get0_param(connection);
  const bool address = X509_VERIFY_PARAM_set1_ip_asc(rules, host.c_str()) == 1;
  if (address) return {};
  ERR_clear_error();  // it is a name
  if (SSL_set1_host(connection, host.c_str()) != 1 ||
      SSL_set_tlsext_host_name(connection, host.c_str()) != 1) {
    return openssl_error(ErrorKind::kInternal, "OpenSSL does not take the host name " + host);
  }
  return {};
}

}  // namespace aflguard
