#include "fleet/provisioning/provisioning.h"

#include <algorithm>

#include "core/base/nearest_name.h"
#include "core/base/rfc3339.h"
#include "core/identity/pem_limit.h"
#include "core/system/atomic_file.h"
#include "core/system/secret_file.h"
#include "fleet/folder/configuration.h"
#include "fleet/provisioning/broker_files.h"
#include "fleet/provisioning/identity_terms.h"
#include "fleet/provisioning/release_key.h"
#include "fleet/provisioning/tar_archive.h"

namespace aflguard::fleet {
namespace fs = std::filesystem;
using std::chrono::system_clock;

namespace {

constexpr unsigned kSecretMode = 0600;
constexpr unsigned kOpenMode = 0644;

/// A certificate for the order, and the key when it was made here.
struct Order {
  IssuedCertificate certificate;
  std::optional<std::string> private_pem;
};

Result<Order> fill(const DeviceRequest& order, const FleetSettings& settings, CertificateAuthority& authority,
                   const Clock& clock) {
  const int days = order.days.value_or(settings.certificate_days);
  const CertificateOptions terms = device_terms(settings, order.name, days, clock.wall());
  if (order.request_pem) {
    TRY(auto certificate, authority.issue_for_request(*order.request_pem, terms));
    return Order{std::move(certificate), std::nullopt};
  }
  TRY(auto credential, authority.issue(terms));
  return Order{std::move(credential.certificate), std::move(credential.private_pem)};
}

/// The files that change with a device's certificate.
Status write_certificate(const fs::path& folder, const Order& order) {
  if (order.private_pem) {
    TRY_STATUS(write_file_atomically(folder / "device.key", *order.private_pem, FileAccess::kOwnerOnly));
  } else {
    std::error_code error;  // the key is on the device; an old one here would not fit
    fs::remove(folder / "device.key", error);
  }
  return write_file_atomically(folder / "device.crt", order.certificate.pem);
}

DeviceKey key_of(const IssuedCertificate& certificate) {
  return {certificate.public_key, certificate.serial, certificate.not_after};
}

/// kInvalidInput when the book has that key already.
Status check_new_key(DeviceBook& book, const PublicKey& key) {
  TRY(const auto owner, book.find_key(key_id_of(key)));
  if (!owner) return {};
  return invalid_input("the request's key belongs to device '" + owner->device +
                       "' already; make a new key on the device");
}

Error no_such_device(DeviceBook& book, const std::string& name) {
  std::vector<std::string> names;
  const Status read = book.each([&](const Device& device) -> Status {
    names.push_back(device.name);
    return {};
  });
  if (!read.ok()) return read.error();
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string_view near = nearest_name(name, known);
  return not_found("the fleet has no device '" + name + "'" +
                   (near.empty() ? "" : "; did you mean '" + std::string(near) + "'?") +
                   " (aflguard device list shows all)");
}

/// The files in `folder` and below it. A link would lead to another file on the board, or to none.
Result<std::vector<fs::path>> files_below(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const fs::file_status status = it->symlink_status(error);
    if (fs::is_directory(status)) continue;
    if (!fs::is_regular_file(status)) {
      return invalid_input(it->path().string() +
                           " is a link or a special file; a bundle has files and folders only: put the file "
                           "itself there");
    }
    files.push_back(it->path());
  }
  if (error) return io_error("cannot list " + folder.string() + ": " + error.message());
  std::sort(files.begin(), files.end());
  return files;
}

Status add_folder(TarArchive& archive, const fs::path& folder, const std::string& prefix) {
  TRY(const auto files, files_below(folder));
  for (const fs::path& file : files) {
    TRY(const std::string content, read_text_file(file));
    const bool secret = file.extension() == ".key";
    const std::string name = prefix + file.lexically_relative(folder).generic_string();
    const auto added = archive.add(name, content, secret ? kSecretMode : kOpenMode);
    if (!added.ok()) return at(file.string(), added.error());
  }
  return {};
}

}  // namespace

Result<Fleet> Fleet::open(const fs::path& root) {
  std::error_code error;
  const FleetFolder folder{fs::absolute(root, error).lexically_normal()};
  if (!fs::exists(folder.settings(), error)) {
    return not_found(root.string() +
                     " is not a fleet folder (it has no fleet.toml); aflguard fleet init makes one");
  }
  TRY(auto lock, FolderLock::acquire(folder.root));
  TRY(auto settings, read_fleet_settings(folder.settings()));
  TRY(auto book, DeviceBook::open(folder.device_book()));
  TRY(auto viewers, read_viewer_book(folder.viewer_book()));
  return Fleet(folder, std::move(settings), std::move(book), std::move(viewers), std::move(lock));
}

Result<Device> Fleet::find(const std::string& name) const {
  TRY(auto device, book_->find(name));
  if (!device) return no_such_device(*book_, name);
  return std::move(*device);
}

Status Fleet::add_device(const DeviceRequest& order, CertificateAuthority& authority, const Clock& clock) {
  TRY_STATUS(check_new_name(order.name));
  TRY(const Order filled, fill(order, settings_, authority, clock));
  TRY_STATUS(check_new_key(*book_, filled.certificate.public_key));
  // The book decides who belongs to the fleet. A folder of a device that is not in it is what an interrupted
  // call left behind.
  lock_.remove_leftovers(folder_.device(order.name));
  TRY(auto staged, StagedDirectory::create(folder_.device(order.name), /*replace=*/true));
  TRY_STATUS(write_certificate(staged.path(), filled));
  TRY_STATUS(write_file_atomically(staged.path() / "ca.crt", authority.certificate_pem()));
  TRY(const std::string gateway_keys, read_text_file(folder_.gateway() / "gateway.pem", kMaxPemBytes));
  TRY_STATUS(write_file_atomically(staged.path() / "gateway.pem", gateway_keys));
  TRY_STATUS(copy_release_key(folder_, staged.path()));
  TRY_STATUS(
      write_file_atomically(staged.path() / "client.toml", client_configuration(settings_, order.name)));
  TRY_STATUS(staged.commit());
  const Device device{order.name,
                      {key_of(filled.certificate)},
                      false,
                      std::chrono::floor<std::chrono::seconds>(clock.wall())};
  const Status written = book_->add({&device, 1});
  std::error_code ignored;
  if (!written.ok()) fs::remove_all(folder_.device(order.name), ignored);
  return written;
}

Status Fleet::renew_device(const DeviceRequest& order, CertificateAuthority& authority, const Clock& clock) {
  TRY(Device device, find(order.name));
  if (device.revoked) {
    return invalid_input("device '" + order.name + "' is revoked; enrol the board under another name");
  }
  TRY(const Order filled, fill(order, settings_, authority, clock));
  TRY_STATUS(check_new_key(*book_, filled.certificate.public_key));
  lock_.remove_leftovers(folder_.device(order.name));
  TRY(auto staged, StagedDirectory::create(folder_.device(order.name), /*replace=*/true));
  std::error_code error;
  fs::copy(folder_.device(order.name), staged.path(), fs::copy_options::recursive, error);
  if (error) return io_error("cannot copy " + folder_.device(order.name).string() + ": " + error.message());
  TRY_STATUS(write_certificate(staged.path(), filled));
  std::vector<DeviceKey>& keys = device.keys;
  std::erase_if(keys, [&](const DeviceKey& key) { return key.not_after < clock.wall(); });
  if (keys.size() >= kMaxKeysPerDevice) {
    return invalid_input("device '" + order.name + "' has " + std::to_string(keys.size()) +
                         " certificates that are still valid, the limit is " +
                         std::to_string(kMaxKeysPerDevice) + "; revoke it and enrol it under another name");
  }
  keys.push_back(key_of(filled.certificate));
  // The book first: a key without its device does no harm, a device with an unknown key would.
  TRY_STATUS(book_->set_keys(order.name, keys));
  return staged.commit();
}

Status Fleet::write_lists(const std::vector<std::string>& also, CertificateAuthority& authority,
                          const Clock& clock) const {
  std::vector<std::string> serials = also;
  std::vector<std::string> revoked;
  TRY_STATUS(book_->each_revoked([&](const Device& device) -> Status {
    revoked.push_back(device.name);
    for (const DeviceKey& key : device.keys) {
      if (key.not_after + kCertificateBackdating > clock.wall()) serials.push_back(key.serial);
    }
    return {};
  }));
  for (const Viewer& viewer : viewers_.viewers) {
    if (!viewer.revoked) continue;
    for (const ViewerCertificate& certificate : viewer.certificates) {
      if (certificate.not_after + kCertificateBackdating > clock.wall())
        serials.push_back(certificate.serial);
    }
  }
  const auto previous = read_text_file(folder_.revocation_list(), std::uint64_t{1} << 30);
  TRY(const std::string list, authority.revocation_list(serials, previous.ok() ? *previous : std::string(),
                                                        clock.wall() - kCertificateBackdating));
  TRY_STATUS(write_file_atomically(folder_.revocation_list(), list));
  return write_file_atomically(folder_.access_list(), broker_access_list(settings_, revoked, viewers_));
}

Status Fleet::revoke_device(const std::string& name, const std::vector<std::string>& also,
                            CertificateAuthority& authority, const Clock& clock) {
  TRY(const Device known, find(name));
  // The book first: the gateway refuses the device from now on, whatever the broker does.
  if (!known.revoked) TRY_STATUS(book_->revoke(name));
  return write_lists(also, authority, clock);
}

Status Fleet::renew_role(FleetRole role, CertificateAuthority& authority, const Clock& clock) {
  const auto renew = [&](const fs::path& folder, const CertificateOptions& terms) -> Status {
    TRY(const std::string key, read_secret_file(folder / (terms.name + ".key")));
    TRY(const IssuedCertificate certificate, authority.issue_for_key(key, terms));
    return write_file_atomically(folder / (terms.name + ".crt"), certificate.pem);
  };
  switch (role) {
    case FleetRole::kBroker:
      return renew(folder_.broker(), broker_terms(settings_, clock.wall()));
    case FleetRole::kGateway:
      return renew(folder_.gateway(), gateway_terms(settings_, clock.wall()));
  }
  return internal_error("no such role");
}

Status check_bundled(const Fleet& fleet, const std::string& name) {
  TRY(const auto device, fleet.book().find(name));
  if (!device) return no_such_device(fleet.book(), name);
  if (device->revoked) return invalid_input("device '" + name + "' is revoked; there is no bundle for it");
  return {};
}

Result<std::string> device_bundle(const Fleet& fleet, const std::string& name) {
  TRY_STATUS(check_bundled(fleet, name));
  TarArchive archive;
  TRY_STATUS(add_folder(archive, fleet.folder().device(name), ""));
  std::error_code error;
  if (fs::is_directory(fleet.folder().model(), error)) {
    if (const fs::path own = fleet.folder().device(name) / "model"; fs::exists(own, error)) {
      return invalid_input(own.string() + " and the fleet's model would go to the same place; remove one");
    }
    TRY_STATUS(add_folder(archive, fleet.folder().model(), "model/"));
  }
  return std::move(archive).finish();
}

Result<std::string> viewer_bundle(const Fleet& fleet, const std::string& name) {
  const Viewer* viewer = fleet.viewers().find(name);
  if (viewer == nullptr) {
    return not_found("the fleet has no viewer '" + name + "' (aflguard fleet viewer list shows all)");
  }
  if (viewer->revoked) return invalid_input("viewer '" + name + "' is revoked; there is no bundle for it");
  TarArchive archive;
  TRY_STATUS(add_folder(archive, fleet.folder().viewer(name), ""));
  return std::move(archive).finish();
}

}  // namespace aflguard::fleet
