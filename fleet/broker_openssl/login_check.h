#pragma once

#include <chrono>
#include <string>

#include "core/base/result.h"
#include "fleet/provisioning/certificate_authority.h"

namespace aflguard::fleet {

struct BrokerAnswer {
  bool accepted = false;
  bool revoked = false;  ///< refused because the certificate is on the broker's revocation list
  std::string reason;    ///< when not accepted: what the broker said
};

/// Connects to a broker as the holder of `credential`, over TLS 1.3, with a clean MQTT session, and leaves
/// again as soon as it is accepted or refused. Where the broker makes client ids from certificates, this
/// pushes out the client that is connected under that name. kUnavailable when there is no answer from the
/// address within `timeout`, or the answer does not come from a broker of that authority.
[[nodiscard]] Result<BrokerAnswer> knock_at_broker(const std::string& host, std::uint16_t port,
                                                   const std::string& authority_pem,
                                                   const Credential& credential,
                                                   std::chrono::seconds timeout);

}  // namespace aflguard::fleet
