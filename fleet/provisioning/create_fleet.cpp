#include "core/system/atomic_file.h"
#include "fleet/folder/configuration.h"
#include "fleet/provisioning/broker_files.h"
#include "fleet/provisioning/dashboard_access.h"
#include "fleet/provisioning/identity_files.h"
#include "fleet/provisioning/identity_terms.h"
#include "fleet/provisioning/provisioning.h"
#include "fleet/provisioning/release_key.h"

namespace aflguard::fleet {
namespace fs = std::filesystem;
namespace {

Status write_authority(const FleetFolder& staged, const CertificateAuthority& authority) {
  TRY(const std::string key, authority.private_pem());
  std::error_code error;
  fs::permissions(staged.authority(), fs::perms::owner_all, error);
  TRY_STATUS(write_file_atomically(staged.authority() / "ca.key", key, FileAccess::kOwnerOnly));
  return write_file_atomically(staged.authority() / "ca.crt", authority.certificate_pem());
}

Status write_identities(const FleetFolder& staged, const FleetSettings& settings,
                        CertificateAuthority& authority, const Clock& clock) {
  TRY(const Credential broker, authority.issue(broker_terms(settings, clock.wall())));
  TRY_STATUS(write_identity(staged.broker(), "broker", broker, authority));
  TRY(const Credential gateway, authority.issue(gateway_terms(settings, clock.wall())));
  TRY_STATUS(write_identity(staged.gateway(), "gateway", gateway, authority));
  return write_file_atomically(staged.gateway() / "gateway.pem", gateway.certificate.public_pem);
}

Result<ViewerBook> write_viewers(const FleetFolder& staged, const FleetSettings& settings,
                                 CertificateAuthority& authority, const Clock& clock) {
  ViewerBook book;
  for (const std::string_view name : kFleetViewers) {
    TRY(Viewer viewer, make_viewer(staged.viewer(name), std::string(name), settings,
                                   settings.certificate_days, authority, clock));
    book.viewers.push_back(std::move(viewer));
  }
  TRY_STATUS(write_viewer_book(staged.viewer_book(), book));
  return book;
}

/// The release key goes to the gateway and to every device in the book.
Status make_book(const FleetFolder& staged, CertificateAuthority& authority, const Clock& clock) {
  TRY_STATUS(DeviceBook::create(staged.device_book()));
  TRY(DeviceBook book, DeviceBook::open(staged.device_book()));
  return provide_release_key(staged, book, authority, clock);
}

Status make_folders(const FleetFolder& staged) {
  std::error_code error;
  for (const fs::path& folder : {staged.authority(), staged.broker(), staged.broker_state(), staged.gateway(),
                                 staged.viewers(), staged.devices()}) {
    fs::create_directory(folder, error);
    if (error) return io_error("cannot create " + folder.string() + ": " + error.message());
  }
  return {};
}

Status copy_model(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy(from, to, fs::copy_options::recursive, error);
  if (error) return io_error("cannot copy the model package " + from.string() + ": " + error.message());
  return {};
}

}  // namespace

Status create_fleet(const fs::path& target, const FleetSettings& settings, CertificateAuthority& authority,
                    const std::optional<fs::path>& model, const Clock& clock,
                    const std::function<Status(const FleetFolder&)>& prepare) {
  TRY_STATUS(check_settings(settings));
  std::error_code error;
  fs::path final_root = fs::absolute(target, error).lexically_normal();
  if (!final_root.has_filename()) final_root = final_root.parent_path();
  TRY(const std::string configuration,
      mosquitto_configuration(settings, FleetFolder{final_root}, current_user_name()));
  TRY(auto staging, StagedDirectory::create(final_root, /*replace=*/false));
  const FleetFolder staged{staging.path()};
  TRY_STATUS(make_folders(staged));
  TRY_STATUS(write_authority(staged, authority));
  TRY_STATUS(write_identities(staged, settings, authority, clock));
  TRY_STATUS(make_book(staged, authority, clock));
  TRY_STATUS(write_file_atomically(staged.broker() / "mosquitto.conf", configuration));
  TRY(const ViewerBook viewers, write_viewers(staged, settings, authority, clock));
  TRY_STATUS(write_file_atomically(staged.access_list(), broker_access_list(settings, {}, viewers)));
  TRY(const std::string list, authority.revocation_list({}, {}, clock.wall() - kCertificateBackdating));
  TRY_STATUS(write_file_atomically(staged.revocation_list(), list));
  TRY_STATUS(write_dashboard_access(settings, staged, authority));
  TRY_STATUS(write_file_atomically(staged.gateway() / "gateway.toml", gateway_configuration(settings)));
  if (model) TRY_STATUS(copy_model(*model, staged.model()));
  TRY_STATUS(write_file_atomically(staged.settings(), fleet_settings_text(settings)));
  if (prepare) TRY_STATUS(prepare(staged));
  return staging.commit();
}

}  // namespace aflguard::fleet
