#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_map>
#include <unordered_set>

#include "core/identity/pem_limit.h"
#include "core/system/atomic_file.h"
#include "core/system/file_descriptor.h"
#include "fleet/folder/configuration.h"
#include "fleet/provisioning/identity_terms.h"
#include "fleet/provisioning/provisioning.h"
#include "fleet/provisioning/release_key.h"

namespace aflguard::fleet {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kGroup = 1000;  // devices whose files reach the disk together
constexpr std::uint64_t kMaxRequestBytes = 64 << 10;

Error about(const ListedDevice& device, const Error& error) {
  return device.where.empty() ? error : at(device.where, error);
}

struct SmallFile {
  const char* name;
  std::string_view content;
  mode_t mode = 0666;
};

/// Not on the disk yet: see sync_all().
Status write_small_file(const fs::path& folder, const SmallFile& small) {
  const fs::path path = folder / small.name;
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, small.mode));
  if (file.valid() && write_all(file.get(), small.content) && file.close()) return {};
  return io_error("cannot write " + path.string() + ": " + std::strerror(errno));
}

/// What was written anywhere below `folder` reaches the disk.
Status sync_all(const fs::path& folder) {
  const FileDescriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.valid() && ::syncfs(file.get()) == 0) return {};
  return io_error("cannot sync " + folder.string() + ": " + std::strerror(errno));
}

/// The configuration of any device, made once.
class ConfigurationPattern final {
 public:
  explicit ConfigurationPattern(const FleetSettings& settings) : settings_(settings) {
    const std::string text = client_configuration(settings, kSample);
    const auto place = text.find(kSample);
    if (place == std::string::npos || text.find(kSample, place + 1) != std::string::npos) return;
    before_ = text.substr(0, place);
    after_ = text.substr(place + std::strlen(kSample));
  }
  [[nodiscard]] std::string text(const std::string& device) const {
    return after_.empty() ? client_configuration(settings_, device) : before_ + device + after_;
  }

 private:
  static constexpr const char* kSample = "the-name-of-a-device-0f3a9c";
  const FleetSettings& settings_;
  std::string before_;
  std::string after_;
};

}  // namespace

/// Enrols the devices of one call of add_devices(), which has checked them.
class Fleet::Enrolment final {
 public:
  Enrolment(Fleet& fleet, std::optional<int> days, CertificateAuthority& authority, const Clock& clock)
      : fleet_(fleet),
        days_(days.value_or(fleet.settings_.certificate_days)),
        authority_(authority),
        clock_(clock),
        configuration_(fleet.settings_) {}

  [[nodiscard]] Status prepare() {
    TRY(gateway_keys_, read_text_file(fleet_.folder_.gateway() / "gateway.pem", kMaxPemBytes));
    std::error_code error;
    if (!fs::exists(fleet_.folder_.release_public_key(), error)) return {};
    TRY(release_key_, read_text_file(fleet_.folder_.release_public_key(), kMaxPemBytes));
    return {};
  }

  /// All of them or none: the book, which decides, comes after their files are on the disk.
  [[nodiscard]] Status add(std::span<const ListedDevice> devices) {
    std::vector<Device> entries;
    const Status added = [&]() -> Status {
      for (const ListedDevice& device : devices) {
        auto entry = write(device);
        if (!entry.ok()) return about(device, entry.error());
        entries.push_back(std::move(*entry));
      }
      TRY_STATUS(sync_all(fleet_.folder_.devices()));
      return fleet_.book_->add(entries);
    }();
    std::error_code ignored;
    for (std::size_t i = 0; !added.ok() && i <= entries.size() && i < devices.size(); ++i) {
      fs::remove_all(fleet_.folder_.device(devices[i].name), ignored);
    }
    return added;
  }

 private:
  [[nodiscard]] Result<Device> write(const ListedDevice& device) {
    const CertificateOptions terms = device_terms(fleet_.settings_, device.name, days_, clock_.wall());
    Credential credential;
    if (device.request) {
      TRY(const std::string request, read_text_file(*device.request, kMaxRequestBytes));
      TRY(credential.certificate, authority_.issue_for_request(request, terms));
    } else {
      TRY(credential, authority_.issue(terms));
    }
    const fs::path folder = fleet_.folder_.device(device.name);
    std::error_code error;
    if (!fs::create_directory(folder, error)) {
      fs::remove_all(folder, error);  // the book does not know it: an interrupted call left it behind
      fs::create_directory(folder, error);
    }
    if (error) return io_error("cannot make " + folder.string() + ": " + error.message());
    const std::string configuration = configuration_.text(device.name);
    if (!device.request) TRY_STATUS(write_small_file(folder, {"device.key", credential.private_pem, 0600}));
    TRY_STATUS(write_small_file(folder, {"device.crt", credential.certificate.pem}));
    TRY_STATUS(write_small_file(folder, {"ca.crt", authority_.certificate_pem()}));
    TRY_STATUS(write_small_file(folder, {"gateway.pem", gateway_keys_}));
    if (!release_key_.empty()) TRY_STATUS(write_small_file(folder, {kReleasePublicKey, release_key_}));
    TRY_STATUS(write_small_file(folder, {"client.toml", configuration}));
    const IssuedCertificate& issued = credential.certificate;
    return Device{device.name,
                  {{issued.public_key, issued.serial, issued.not_after}},
                  false,
                  std::chrono::floor<std::chrono::seconds>(clock_.wall())};
  }

  Fleet& fleet_;
  const int days_;
  CertificateAuthority& authority_;
  const Clock& clock_;
  const ConfigurationPattern configuration_;
  std::string gateway_keys_;
  std::string release_key_;  ///< its public half; empty in a fleet that has none yet
};

Status Fleet::check_new_name(const std::string& name) const {
  TRY_STATUS(check_device_name(name));
  TRY(const auto known, book_->find(name));
  if (known) {
    return invalid_input("the fleet has a device '" + name + "' already" +
                         (known->revoked ? ", a revoked one; choose another name"
                                         : "; aflguard device renew gives it a new certificate"));
  }
  if (name == kReleaseName) {
    return invalid_input("device 'release': the name is the fleet's own; choose another");
  }
  if (viewers_.find(name) == nullptr) return {};
  return invalid_input("the fleet has a viewer '" + name + "' already; choose another name");
}

/// Names first, which costs little; then requests, which are read and verified.
Status Fleet::check_new_devices(std::span<const ListedDevice> devices, CertificateAuthority& authority,
                                Progress& progress) const {
  TRY(const auto state, book_->state());
  if (devices.size() > kMaxDevicesInBook - std::min<std::size_t>(kMaxDevicesInBook, state.devices)) {
    return invalid_input("the fleet has " + std::to_string(state.devices) + " devices and would get " +
                         std::to_string(devices.size()) + " more, the limit is " +
                         std::to_string(kMaxDevicesInBook));
  }
  std::unordered_set<std::string_view> names;
  for (const ListedDevice& device : devices) {
    if (const Status named = check_new_name(device.name); !named.ok()) return about(device, named.error());
    if (!names.insert(device.name).second) {
      return about(device, invalid_input("device '" + device.name + "' is in the list twice"));
    }
  }
  std::unordered_map<std::string, std::string_view> owners;  // of keys
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const ListedDevice& device = devices[i];
    if (!device.request) continue;
    if (i % kGroup == 0) progress.show("reading signing requests", i, devices.size());
    const auto look = [&]() -> Status {
      TRY(const std::string request, read_text_file(*device.request, kMaxRequestBytes));
      const auto key = authority.requested_key(request, device.name);
      if (!key.ok()) return at(device.request->string(), key.error());
      TRY(const auto known, book_->find_key(key_id_of(*key)));
      const auto [owner, is_new] =
          owners.try_emplace({reinterpret_cast<const char*>(key->data()), key->size()}, device.name);
      if (!known && is_new) return {};
      return invalid_input(device.request->string() + ": the request's key belongs to device '" +
                           (known ? known->device : std::string(owner->second)) +
                           "' already; make a new key on the device");
    };
    if (const Status fits = look(); !fits.ok()) return about(device, fits.error());
  }
  return {};
}

Status Fleet::add_devices(std::span<const ListedDevice> devices, std::optional<int> days,
                          CertificateAuthority& authority, const Clock& clock, Progress& progress) {
  TRY_STATUS(check_new_devices(devices, authority, progress));
  Enrolment enrolment(*this, days, authority, clock);
  TRY_STATUS(enrolment.prepare());
  for (std::size_t done = 0; done < devices.size(); done += kGroup) {
    progress.show("enrolling devices", done, devices.size());
    const auto group = devices.subspan(done, std::min(kGroup, devices.size() - done));
    if (const Status added = enrolment.add(group); !added.ok()) {
      progress.finish();
      return Error{added.error().kind, added.error().message + "; " + std::to_string(done) + " of " +
                                           std::to_string(devices.size()) + " devices are enrolled"};
    }
  }
  progress.show("enrolling devices", devices.size(), devices.size());
  progress.finish();
  return {};
}

Result<std::size_t> Fleet::next_number(const std::string& prefix) const {
  std::size_t highest = 0;
  TRY_STATUS(book_->each_name(prefix, [&](std::string_view name) {
    std::size_t number = 0;
    const char* const end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + prefix.size(), end, number);
    if (read.ec == std::errc() && read.ptr == end) highest = std::max(highest, number);
  }));
  return highest + 1;
}

Result<std::vector<std::string>> Fleet::active_names(const std::string& prefix) const {
  std::vector<std::string> all;
  TRY_STATUS(book_->each_name(prefix, [&](std::string_view name) { all.emplace_back(name); }));
  std::vector<std::string> active;
  for (std::string& name : all) {
    TRY(const bool enrolled, book_->is_active(name));
    if (enrolled) active.push_back(std::move(name));
  }
  return active;
}

Status write_device_bundles(const Fleet& fleet, std::span<const std::string> names, const fs::path& folder,
                            Progress& progress) {
  for (const std::string& name : names) TRY_STATUS(check_bundled(fleet, name));
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) fs::permissions(folder, fs::perms::owner_all, error);
  if (error) return io_error("cannot make " + folder.string() + ": " + error.message());
  for (std::size_t i = 0; i < names.size(); ++i) {
    progress.show("writing bundles", i, names.size());
    TRY(const std::string archive, device_bundle(fleet, names[i]));
    TRY_STATUS(write_file_atomically(folder / (names[i] + ".tar"), archive, FileAccess::kOwnerOnly));
  }
  progress.finish();
  return {};
}

}  // namespace aflguard::fleet
