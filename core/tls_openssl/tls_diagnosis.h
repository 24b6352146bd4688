#pragma once

#include <cstdint>
#include <string>

#include "core/tls_openssl/tls_files.h"

namespace aflguard {

/// Why a broker and this client do not come together, for the log: makes a TLS handshake itself and
/// listens for a moment what the broker says to it. Paho keeps that to itself, and a broker's objection to a
/// certificate is one word on its side of the wire: expired, revoked, unknown authority. Empty when nothing
/// is found wrong. Takes at most some seconds.
[[nodiscard]] std::string tls_diagnosis(const std::string& host, std::uint16_t port, const TlsFiles& files);

}  // namespace aflguard
