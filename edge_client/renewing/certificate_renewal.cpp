#include "edge_client/renewing/certificate_renewal.h"

#include "core/base/rfc3339.h"
#include "core/envelope/renewal_message.h"
#include "core/identity/pem_limit.h"
#include "core/system/atomic_file.h"
#include "core/system/secret_file.h"

namespace aflguard::edge {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::minutes kLook(1);
constexpr std::chrono::seconds kAfterFailure(30);

fs::path new_key_file(const fs::path& state_folder) {
  return state_folder / "renewal.key";
}

}  // namespace

fs::path renewed_identity(const fs::path& state_folder) {
  return state_folder / "identity.pem";
}

CertificateRenewal::CertificateRenewal(RenewalSettings settings, const FleetTopics& topics,
                                       RenewalParts parts)
    : settings_(std::move(settings)),
      request_topic_(topics.renewal(settings_.device)),
      answer_topic_(topics.certificate(settings_.device)),
      parts_(std::move(parts)) {}

bool CertificateRenewal::due() const {
  const Certificate& certificate = settings_.certificate;
  const auto life = certificate.not_after - certificate.not_before;
  return parts_.clock.wall() >= certificate.not_after - life / 3;
}

CertificateRenewal::Time CertificateRenewal::step() {
  const Time now = parts_.clock.steady();
  if (renewed_ || !due()) return now + kLook;
  if (!connected_ || asked_) return now + kLook;
  if (now < retry_at_) return retry_at_;
  if (const Status asked = ask(); !asked.ok()) {
    problem_ = "the certificate ends at " + to_rfc3339(settings_.certificate.not_after) +
               " and cannot be renewed: " + asked.error().message;
    retry_at_ = now + kAfterFailure;
    return retry_at_;
  }
  problem_.clear();
  asked_ = true;
  return now + kLook;
}

Status CertificateRenewal::ask() {
  TRY_STATUS(provide_key());
  TRY(std::string request, parts_.request_for(key_pem_));
  const RenewalMessage message{settings_.fleet, settings_.device, parts_.clock.wall(), std::move(request)};
  TRY(const Payload payload, encode(message));
  TRY(SealedEnvelope sealed, parts_.sealer.seal(payload));
  TRY_STATUS(parts_.bus.subscribe(answer_topic_));
  TRY([[maybe_unused]] const PublishId id,
      parts_.bus.publish(
          {.topic = request_topic_, .payload = std::move(sealed).release(), .retained = true}));
  parts_.log.info("the certificate ends at " + to_rfc3339(settings_.certificate.not_after) +
                  ": asked for a new one");
  return {};
}

/// On the disk before it is asked for: an answer that comes after a power loss still finds it.
Status CertificateRenewal::provide_key() {
  if (!key_pem_.empty()) return {};
  const fs::path file = new_key_file(settings_.state_folder);
  std::error_code error;
  if (fs::exists(file, error)) {
    TRY(std::string kept, read_secret_file(file));
    const auto in_use = read_secret_file(renewed_identity(settings_.state_folder));
    // The power failed between taking the last one into use and removing it here.
    if (!in_use.ok() || !in_use->starts_with(kept)) {
      key_pem_ = std::move(kept);
      return {};
    }
  }
  TRY(std::string made, parts_.new_key());
  TRY_STATUS(write_file_atomically(file, made, FileAccess::kOwnerOnly));
  key_pem_ = std::move(made);
  return {};
}

void CertificateRenewal::notice(const BusEvent& event) {
  if (std::holds_alternative<BusConnected>(event)) {
    connected_ = true;
    asked_ = false;  // the broker may be another one
    return;
  }
  if (std::holds_alternative<BusDisconnected>(event)) {
    connected_ = false;
    return;
  }
  const auto* received = std::get_if<BusReceived>(&event);
  if (received == nullptr || received->message.topic != answer_topic_ || key_pem_.empty() || renewed_) return;
  const Bytes& payload = received->message.payload;
  if (payload.empty()) return;  // the broker keeps none
  const std::string pem(reinterpret_cast<const char*>(payload.data()),
                        std::min(payload.size(), kMaxPemBytes));
  if (const Status installed = install(pem); !installed.ok()) {
    parts_.log.warning("a certificate that came from the broker is not taken: " + installed.error().message);
  }
}

Status CertificateRenewal::install(const std::string& certificate_pem) {
  TRY(const Certificate certificate, parts_.check(certificate_pem, key_pem_));
  if (certificate.not_after <= settings_.certificate.not_after) {
    return invalid_input("it ends at " + to_rfc3339(certificate.not_after) + ", the present one at " +
                         to_rfc3339(settings_.certificate.not_after));
  }
  const std::string both = key_pem_ + (key_pem_.ends_with('\n') ? "" : "\n") + certificate_pem;
  TRY_STATUS(write_file_atomically(renewed_identity(settings_.state_folder), both, FileAccess::kOwnerOnly));
  std::error_code ignored;  // provide_key() finds out what stays behind
  fs::remove(new_key_file(settings_.state_folder), ignored);
  parts_.log.info("renewed: the certificate ends at " + to_rfc3339(certificate.not_after) + " now");
  renewed_ = true;
  return {};
}

}  // namespace aflguard::edge
