#include "fleet/provisioning/identity_files.h"

#include "core/system/atomic_file.h"
#include "fleet/folder/viewer_identity.h"
#include "fleet/provisioning/identity_terms.h"

namespace aflguard::fleet {
namespace fs = std::filesystem;

Status write_identity(const fs::path& folder, const std::string& name, const Credential& credential,
                      const CertificateAuthority& authority) {
  TRY_STATUS(write_file_atomically(folder / (name + ".key"), credential.private_pem, FileAccess::kOwnerOnly));
  TRY_STATUS(write_file_atomically(folder / (name + ".crt"), credential.certificate.pem));
  return write_file_atomically(folder / "ca.crt", authority.certificate_pem());
}

Result<Viewer> make_viewer(const fs::path& folder, const std::string& name, const FleetSettings& settings,
                           int days, CertificateAuthority& authority, const Clock& clock) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return io_error("cannot create " + folder.string() + ": " + error.message());
  TRY(const Credential credential, authority.issue(viewer_terms(settings, name, days, clock.wall())));
  TRY_STATUS(write_identity(folder, name, credential, authority));
  TRY_STATUS(write_file_atomically(folder / "viewer.toml", viewer_configuration(settings, name)));
  return Viewer{name, {{credential.certificate.serial, credential.certificate.not_after}}, false};
}

}  // namespace aflguard::fleet
