#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/book/device_book.h"
#include "core/identity/name_list.h"
#include "core/system/folder_lock.h"
#include "fleet/folder/fleet_folder.h"
#include "fleet/folder/fleet_settings.h"
#include "fleet/folder/viewer_book.h"
#include "fleet/provisioning/certificate_authority.h"
#include "fleet/provisioning/device_list.h"

namespace aflguard::fleet {

/// Certificates begin this long before they are made: clocks of boards are late after a cold start.
inline constexpr std::chrono::minutes kCertificateBackdating{10};
/// How long a fleet's authority lasts.
inline constexpr std::chrono::days kAuthorityLifetime{7305};

/// Makes the whole folder of a new fleet, or nothing: the authority's files, identities of broker, gateway
/// and viewers, and their configuration. `model` is copied to DIR/model when given; `furnish` may
/// then change what is in the folder, which is not in its place yet. kInvalidInput when `target` exists and
/// is not an empty folder.
[[nodiscard]] Status create_fleet(const std::filesystem::path& target, const FleetSettings& settings,
                                  CertificateAuthority& authority,
                                  const std::optional<std::filesystem::path>& model, const Clock& clock,
                                  const std::function<Status(const FleetFolder&)>& prepare = {});

/// One of the fleet's own programs, whose certificate can be renewed like a device's.
enum class FleetRole : std::uint8_t { kBroker, kGateway };

/// What a new certificate of a device is made from.
struct DeviceRequest {
  std::string name;
  std::optional<std::string>
      request_pem;          ///< for a key that was made on the device; otherwise one is made here
  std::optional<int> days;  ///< otherwise what fleet.toml says
};

/// A fleet's folder, held by one process at a time: opening waits until it is free. Every change is made
/// whole or not at all, and is on disk when the call returns.
class Fleet final {
 public:
  /// kNotFound when `root` is not a fleet folder.
  [[nodiscard]] static Result<Fleet> open(const std::filesystem::path& root);

  [[nodiscard]] const FleetFolder& folder() const { return folder_; }
  [[nodiscard]] const FleetSettings& settings() const { return settings_; }
  [[nodiscard]] DeviceBook& book() const { return *book_; }
  [[nodiscard]] const ViewerBook& viewers() const { return viewers_; }

  /// Enrols a device and makes DIR/devices/NAME. kInvalidInput when the name was ever used.
  [[nodiscard]] Status add_device(const DeviceRequest& order, CertificateAuthority& authority,
                                  const Clock& clock);
  /// Enrols many. Everything is checked before anything is written: kInvalidInput, with the place in the
  /// list, for a name or key that is there already. After that, a failure leaves a multiple of a thousand
  /// enrolled.
  [[nodiscard]] Status add_devices(std::span<const ListedDevice> devices, std::optional<int> days,
                                   CertificateAuthority& authority, const Clock& clock, Progress& progress);
  /// One more than the highest number that follows `prefix` in a device's name; 1 when there is none.
  [[nodiscard]] Result<std::size_t> next_number(const std::string& prefix) const;
  /// Devices that are not revoked and whose names begin so.
  [[nodiscard]] Result<std::vector<std::string>> active_names(const std::string& prefix) const;
  /// A new key and certificate for an enrolled device. The old ones stay good until they end, so nothing has
  /// to happen at the same moment; configuration in DIR/devices/NAME stays as it is.
  [[nodiscard]] Status renew_device(const DeviceRequest& order, CertificateAuthority& authority,
                                    const Clock& clock);
  /// For good: in the book, in the revocation list and in the access list. The broker has not read them yet.
  /// `also` are further serials for the revocation list. Can be repeated.
  [[nodiscard]] Status revoke_device(const std::string& name, const std::vector<std::string>& also,
                                     CertificateAuthority& authority, const Clock& clock);

  /// The gateway takes no updates of these devices, or takes them again. kNotFound, and nothing changes, when
  /// one is not enrolled.
  [[nodiscard]] Status pause_devices(const NameList& names, bool pause);
  [[nodiscard]] Result<NameList> paused() const { return read_name_list(folder_.paused()); }
  /// The devices of a group, for commands that take --group; replaces what it was. None: there is no such
  /// group any more. kNotFound, and nothing changes, when one is not enrolled.
  [[nodiscard]] Status set_group(const std::string& name, const NameList& devices);
  /// kNotFound when there is no such group.
  [[nodiscard]] Result<NameList> group(const std::string& name) const;

  /// Makes an identity that may watch the fleet, in DIR/viewers/NAME, and writes the access list, which the
  /// broker has not read yet. kInvalidInput when a device or another viewer ever had the name. `days`:
  /// otherwise what fleet.toml says.
  [[nodiscard]] Status add_viewer(const std::string& name, std::optional<int> days,
                                  CertificateAuthority& authority, const Clock& clock);
  /// A new certificate; the key stays, and the old certificate stays good until it ends.
  [[nodiscard]] Status renew_viewer(const std::string& name, std::optional<int> days,
                                    CertificateAuthority& authority, const Clock& clock);
  /// Like revoke_device.
  [[nodiscard]] Status revoke_viewer(const std::string& name, const std::vector<std::string>& also,
                                     CertificateAuthority& authority, const Clock& clock);

  /// A new certificate for a program of the fleet; its key stays, because devices know the gateway by it.
  [[nodiscard]] Status renew_role(FleetRole role, CertificateAuthority& authority, const Clock& clock);
  /// Writes the broker's configuration, access list and revocation list again from fleet.toml and the books.
  /// Adds the viewers that every fleet has and an older one lacks.
  [[nodiscard]] Status refresh_broker(CertificateAuthority& authority, const Clock& clock);

 private:
  Fleet(FleetFolder folder, FleetSettings settings, DeviceBook book, ViewerBook viewers, FolderLock lock)
      : folder_(std::move(folder)),
        settings_(std::move(settings)),
        book_(std::make_unique<DeviceBook>(std::move(book))),
        viewers_(std::move(viewers)),
        lock_(std::move(lock)) {}
  class Enrolment;
  [[nodiscard]] Result<Device> find(const std::string& name) const;
  [[nodiscard]] Status check_new_name(const std::string& name) const;
  [[nodiscard]] Status check_new_devices(std::span<const ListedDevice> devices,
                                         CertificateAuthority& authority, Progress& progress) const;
  [[nodiscard]] Status check_enrolled(const NameList& names) const;
  [[nodiscard]] Result<Viewer*> find_viewer(const std::string& name);
  [[nodiscard]] Status enter_viewer(const std::string& name, std::optional<int> days,
                                    CertificateAuthority& authority, const Clock& clock);
  [[nodiscard]] Status write_lists(const std::vector<std::string>& also, CertificateAuthority& authority,
                                   const Clock& clock) const;
  FleetFolder folder_;
  FleetSettings settings_;
  std::unique_ptr<DeviceBook> book_;
  ViewerBook viewers_;
  FolderLock lock_;
};

/// kInvalidInput for a revoked device, kNotFound for one that was never enrolled.
[[nodiscard]] Status check_bundled(const Fleet& fleet, const std::string& name);

/// What goes to the board, as a tar archive: DIR/devices/NAME with its folders, and the fleet's model, if it
/// has one. kInvalidInput for a revoked device, and for links and special files in there.
[[nodiscard]] Result<std::string> device_bundle(const Fleet& fleet, const std::string& name);

/// device_bundle() of each into `folder`/NAME.tar, which only its owner can read. Every name is looked up
/// before anything is written; archives that are there are replaced.
[[nodiscard]] Status write_device_bundles(const Fleet& fleet, std::span<const std::string> names,
                                          const std::filesystem::path& folder, Progress& progress);

/// The folder of a viewer as a tar archive. kInvalidInput for a revoked one.
[[nodiscard]] Result<std::string> viewer_bundle(const Fleet& fleet, const std::string& name);

}  // namespace aflguard::fleet
