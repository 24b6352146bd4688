#pragma once

#include <chrono>
#include <cstdint>
#include <openssl/ssl.h>
#include <string>
#include <utility>

#include "core/base/result.h"
#include "core/identity_openssl/openssl_handles.h"
#include "core/system/file_descriptor.h"

namespace aflguard {

using OpensslContext = std::unique_ptr<SSL_CTX, OpensslFree<SSL_CTX_free>>;
using OpensslConnection = std::unique_ptr<SSL, OpensslFree<SSL_free>>;

/// TCP to the broker; reading and writing fail after `timeout`. kUnavailable without an answer.
[[nodiscard]] Result<FileDescriptor> open_connection(const std::string& host, std::uint16_t port,
                                                     std::chrono::seconds timeout);

/// The peer's certificate has to name `host`, an address or a name.
[[nodiscard]] Status expect_host(SSL* connection, const std::string& host);

}  // namespace aflguard
