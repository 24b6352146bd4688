#include "core/base/identifier.h"
#include "core/identity/pem_limit.h"
#include "core/system/atomic_file.h"
#include "core/system/secret_file.h"
#include "fleet/folder/viewer_identity.h"
#include "fleet/provisioning/broker_files.h"
#include "fleet/provisioning/dashboard_access.h"
#include "fleet/provisioning/identity_files.h"
#include "fleet/provisioning/identity_terms.h"
#include "fleet/provisioning/provisioning.h"
#include "fleet/provisioning/release_key.h"

namespace aflguard::fleet {
namespace fs = std::filesystem;

Result<Viewer*> Fleet::find_viewer(const std::string& name) {
  Viewer* const viewer = viewers_.find(name);
  if (viewer == nullptr) {
    return not_found("the fleet has no viewer '" + name + "' (aflguard fleet viewer list shows all)");
  }
  return viewer;
}

/// Into the book; the access list is the caller's.
Status Fleet::enter_viewer(const std::string& name, std::optional<int> days, CertificateAuthority& authority,
                           const Clock& clock) {
  // The book decides who may watch: a folder that it does not know is what an interrupted call left behind.
  TRY(Viewer viewer, make_viewer(folder_.viewer(name), name, settings_,
                                 days.value_or(settings_.certificate_days), authority, clock));
  ViewerBook changed = viewers_;
  changed.viewers.push_back(std::move(viewer));
  TRY_STATUS(write_viewer_book(folder_.viewer_book(), changed));
  viewers_ = std::move(changed);
  return {};
}

Status Fleet::add_viewer(const std::string& name, std::optional<int> days, CertificateAuthority& authority,
                         const Clock& clock) {
  TRY_STATUS(check_identifier("viewer", name));
  if (name == "broker" || name == "gateway" || name == kReleaseName) {
    return invalid_input("viewer '" + name + "': that name is the fleet's own; choose another");
  }
  TRY(const auto device, book_->find(name));
  if (device) {
    return invalid_input("the fleet has a device '" + name + "' already; choose another name");
  }
  if (const Viewer* known = viewers_.find(name); known != nullptr) {
    return invalid_input("the fleet has a viewer '" + name + "' already" +
                         (known->revoked ? ", a revoked one; choose another name"
                                         : "; aflguard fleet viewer renew gives it a new certificate"));
  }
  TRY_STATUS(enter_viewer(name, days, authority, clock));
  return write_lists({}, authority, clock);
}

Status Fleet::renew_viewer(const std::string& name, std::optional<int> days, CertificateAuthority& authority,
                           const Clock& clock) {
  TRY(const Viewer* known, find_viewer(name));
  if (known->revoked) return invalid_input("viewer '" + name + "' is revoked; add one of another name");
  const fs::path folder = folder_.viewer(name);
  TRY(const std::string key, read_secret_file(folder / (name + ".key")));
  TRY(const IssuedCertificate certificate,
      authority.issue_for_key(
          key, viewer_terms(settings_, name, days.value_or(settings_.certificate_days), clock.wall())));
  ViewerBook changed = viewers_;
  std::vector<ViewerCertificate>& certificates = changed.find(name)->certificates;
  std::erase_if(certificates, [&](const ViewerCertificate& old) { return old.not_after < clock.wall(); });
  certificates.push_back({certificate.serial, certificate.not_after});
  TRY_STATUS(write_viewer_book(folder_.viewer_book(), changed));
  viewers_ = std::move(changed);
  return write_file_atomically(folder / (name + ".crt"), certificate.pem);
}

Status Fleet::revoke_viewer(const std::string& name, const std::vector<std::string>& also,
                            CertificateAuthority& authority, const Clock& clock) {
  TRY(const Viewer* known, find_viewer(name));
  if (!known->revoked) {
    ViewerBook changed = viewers_;
    changed.find(name)->revoked = true;
    TRY_STATUS(write_viewer_book(folder_.viewer_book(), changed));
    viewers_ = std::move(changed);
  }
  return write_lists(also, authority, clock);
}

Status Fleet::refresh_broker(CertificateAuthority& authority, const Clock& clock) {
  TRY(const std::string configuration, mosquitto_configuration(settings_, folder_, current_user_name()));
  std::error_code error;
  fs::create_directories(folder_.broker_state(), error);
  for (const std::string_view name : kFleetViewers) {
    // A device that had the name before there were viewers keeps it.
    TRY(const auto device, book_->find(name));
    if (viewers_.find(name) != nullptr || device) continue;
    TRY_STATUS(enter_viewer(std::string(name), std::nullopt, authority, clock));
  }
  for (const Viewer& viewer : viewers_.viewers) {
    const fs::path folder = folder_.viewer(viewer.name);
    if (viewer.revoked || !fs::is_directory(folder, error)) continue;
    TRY_STATUS(write_file_atomically(folder / "viewer.toml", viewer_configuration(settings_, viewer.name)));
  }
  TRY_STATUS(write_file_atomically(folder_.broker() / "mosquitto.conf", configuration));
  TRY_STATUS(write_dashboard_access(settings_, folder_, authority));
  TRY_STATUS(provide_release_key(folder_, *book_, authority, clock));
  return write_lists({}, authority, clock);
}

}  // namespace aflguard::fleet
