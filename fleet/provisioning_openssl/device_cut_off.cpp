#include "fleet/provisioning_openssl/device_cut_off.h"

#include <thread>

#include "core/base/identifier.h"
#include "fleet/broker_openssl/login_check.h"
#include "fleet/provisioning/broker_reload.h"

namespace aflguard::fleet {
namespace {

constexpr std::chrono::minutes kVisitLength{10};
constexpr std::chrono::milliseconds kAskAgain{50};

Result<Credential> visitor(const std::string& name, CertificateAuthority& authority, const Clock& clock) {
  return authority.issue({.name = name,
                          .use = CertificateUse::kClient,
                          .alternative_names = {},
                          .not_before = clock.wall() - kCertificateBackdating,
                          .not_after = clock.wall() + kVisitLength});
}

Result<BrokerAnswer> knock(const Fleet& fleet, const CertificateAuthority& authority,
                           const Credential& credential, std::chrono::seconds timeout) {
  return knock_at_broker(fleet.settings().broker_host, fleet.settings().broker_port,
                         authority.certificate_pem(), credential, timeout);
}

/// Returns once the broker refuses `revoked`: Mosquitto reads its files some time after it was told to.
Status wait_until_refused(const Fleet& fleet, const CertificateAuthority& authority,
                          const Credential& revoked, std::chrono::seconds timeout, const Clock& clock) {
  const auto deadline = clock.steady() + timeout;
  while (true) {
    TRY(const BrokerAnswer answer, knock(fleet, authority, revoked, timeout));
    if (answer.revoked) return {};
    if (clock.steady() >= deadline && !answer.accepted) {
      return unavailable("the broker refuses connections, but not for revoked certificates: " +
                         answer.reason);
    }
    if (clock.steady() >= deadline) {
      return unavailable("the broker still accepts revoked certificates after " +
                         std::to_string(timeout.count()) + " s: its log says why it did not take " +
                         fleet.folder().revocation_list().string());
    }
    std::this_thread::sleep_for(kAskAgain);
  }
}

using Revoke = Status (Fleet::*)(const std::string&, const std::vector<std::string>&, CertificateAuthority&,
                                 const Clock&);

Result<CutOff> cut_off(Fleet& fleet, Revoke revoke, const std::string& name, CertificateAuthority& authority,
                       const Clock& clock, std::chrono::seconds timeout) {
  TRY(const Credential revoked, visitor(name, authority, clock));
  TRY_STATUS((fleet.*revoke)(name, {revoked.certificate.serial}, authority, clock));
  TRY(const BrokerReload reload, reload_broker(fleet.settings(), fleet.folder()));
  if (reload == BrokerReload::kNotRunning) return CutOff::kBrokerNotRunning;
  TRY_STATUS(wait_until_refused(fleet, authority, revoked, timeout, clock));
  TRY(const Credential valid, visitor(name, authority, clock));
  TRY(const BrokerAnswer answer, knock(fleet, authority, valid, timeout));
  if (answer.accepted) return CutOff::kDone;
  return unavailable("the broker refuses valid certificates too (" + answer.reason +
                     "), so the session of '" + name + "' could not be ended; its log says why");
}

}  // namespace

Result<CutOff> cut_off_device(Fleet& fleet, const std::string& name, CertificateAuthority& authority,
                              const Clock& clock, std::chrono::seconds timeout) {
  TRY_STATUS(check_device_name(name));
  return cut_off(fleet, &Fleet::revoke_device, name, authority, clock, timeout);
}

Result<CutOff> cut_off_viewer(Fleet& fleet, const std::string& name, CertificateAuthority& authority,
                              const Clock& clock, std::chrono::seconds timeout) {
  TRY_STATUS(check_identifier("viewer", name));
  return cut_off(fleet, &Fleet::revoke_viewer, name, authority, clock, timeout);
}

}  // namespace aflguard::fleet
