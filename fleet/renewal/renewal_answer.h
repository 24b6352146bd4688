#pragma once

#include <string>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/identity/signature.h"
#include "core/verdict/refusal.h"
#include "fleet/provisioning/provisioning.h"

namespace aflguard::fleet {

/// The certificate, in PEM, for a request that came on the topic of `device`: enters its new key into the
/// book and DIR/devices. A request whose key was certified before gets that certificate again: the answer may
/// have been lost. Refused, and nothing changes, unless the device is enrolled, not revoked and not paused,
/// one of its keys that are still valid has signed the envelope, and the key that it asks for the request
/// inside.
[[nodiscard]] Admitted<std::string> answer_renewal(Fleet& fleet, const std::string& device, Bytes envelope,
                                                   CertificateAuthority& authority, const Verifier& verifier,
                                                   const Clock& clock);

}  // namespace aflguard::fleet
