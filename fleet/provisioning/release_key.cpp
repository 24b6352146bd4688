#include "fleet/provisioning/release_key.h"

#include "core/identity/pem_limit.h"
#include "core/system/atomic_file.h"
#include "core/system/secret_file.h"
#include "fleet/provisioning/provisioning.h"

namespace aflguard::fleet {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::hours kVisit{1};

CertificateOptions release_terms(const Clock& clock) {
  return {.name = kReleaseName,
          .use = CertificateUse::kClient,
          .alternative_names = {},
          .not_before = clock.wall() - kCertificateBackdating,
          .not_after = clock.wall() + kVisit};
}

}  // namespace

Status provide_release_key(const FleetFolder& folder, DeviceBook& book, CertificateAuthority& authority,
                           const Clock& clock) {
  std::error_code error;
  if (!fs::exists(folder.release_key(), error)) {
    TRY(const Credential made, authority.issue(release_terms(clock)));
    // The public half first: with the key there, it is there too.
    TRY_STATUS(write_file_atomically(folder.release_public_key(), made.certificate.public_pem));
    TRY_STATUS(write_file_atomically(folder.release_key(), made.private_pem, FileAccess::kOwnerOnly));
  }
  TRY_STATUS(copy_release_key(folder, folder.gateway()));
  return book.each([&](const Device& device) -> Status {
    const fs::path place = folder.device(device.name);
    // There is one key, for good: a copy stays as it is.
    if (device.revoked || !fs::is_directory(place, error) || fs::exists(place / kReleasePublicKey, error)) {
      return {};
    }
    return copy_release_key(folder, place);
  });
}

Status copy_release_key(const FleetFolder& folder, const fs::path& to) {
  std::error_code error;
  if (!fs::exists(folder.release_public_key(), error)) return {};
  TRY(const std::string pem, read_text_file(folder.release_public_key(), kMaxPemBytes));
  return write_file_atomically(to / kReleasePublicKey, pem);
}

Status certify_release_key(const FleetFolder& folder, CertificateAuthority& authority, const Clock& clock) {
  TRY(const std::string key, read_secret_file(folder.release_key()));
  TRY(const IssuedCertificate certificate, authority.issue_for_key(key, release_terms(clock)));
  return write_file_atomically(folder.release_certificate(), certificate.pem);
}

}  // namespace aflguard::fleet
