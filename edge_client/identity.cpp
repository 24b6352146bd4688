#include "edge_client/identity.h"

#include "core/base/rfc3339.h"

namespace aflguard::edge {

Status check_identity(const Certificate& certificate, const PublicKey& key, const std::string& device,
                      std::chrono::system_clock::time_point now) {
  if (certificate.common_name != device) {
    return invalid_input("the certificate is for '" + certificate.common_name + "', and [fleet] device is '" +
                         device + "'");
  }
  if (certificate.public_key != key) {
    return invalid_input("certificate and key do not belong together; install both of one bundle");
  }
  if (now < certificate.not_before) {
    return unavailable("the certificate is valid from " + to_rfc3339(certificate.not_before) +
                       " on, and the clock says " + to_rfc3339(now) + "; set the clock");
  }
  if (now >= certificate.not_after) {
    return unavailable("the certificate ended at " + to_rfc3339(certificate.not_after) +
                       ", and the clock says " + to_rfc3339(now) + "; renew it with 'aflguard device'");
  }
  return {};
}

}  // namespace aflguard::edge
