#include "tools/aflguard/verbs/device_verbs.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/base/rfc3339.h"
#include "core/system/atomic_file.h"
#include "firmware_sim/image/board_package.h"
#include "firmware_sim/image/client_packages.h"
#include "fleet/provisioning/boot_bundle.h"
#include "fleet/provisioning/device_key.h"
#include "fleet/provisioning/provisioning.h"
#include "fleet/provisioning/samples_in_bundle.h"
#include "fleet/provisioning_openssl/device_cut_off.h"
#include "fleet/renewal/renewal_answer.h"
#include "fleet/renewal/renewal_desk.h"
#include "tools/aflguard/verbs/verb_group.h"
#include "tools/aflguard/wiring.h"

namespace aflguard::cli {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::system_clock;

struct DeviceOptions {
  std::string fleet;
  std::string name;
  std::string request;
  std::string output;
  std::optional<int> days;
  bool boot = false;
  std::vector<std::string> packages;
  std::string ssh_keys;
  std::size_t count = 0;
  std::string prefix;
  std::string list;
  bool json = false;
  bool requests = false;
  std::vector<std::string> names;
  std::string group;
};

constexpr std::uint64_t kMaxRequestBytes = 64 << 10;

Result<fleet::DeviceRequest> order(const DeviceOptions& options) {
  fleet::DeviceRequest made{options.name, std::nullopt, options.days};
  if (!options.request.empty()) {
    TRY(made.request_pem, read_text_file(options.request, kMaxRequestBytes));
  }
  return made;
}

/// Names the file that was given when it is what the authority does not like.
Status about_request(const DeviceOptions& options, const Status& status) {
  if (status.ok() || options.request.empty()) return status;
  return at(options.request, status.error());
}

system_clock::time_point end_of(const Device& device) {
  system_clock::time_point latest{};
  for (const DeviceKey& key : device.keys) latest = std::max(latest, key.not_after);
  return latest;
}

const char* state_of(const Device& device, const NameList& paused) {
  if (device.revoked) return "revoked";
  if (paused.contains(device.name)) return "paused";
  return end_of(device) < system_clock::now() ? "expired" : "active";
}

Json describe(const Device& device, const NameList& paused) {
  const auto left = std::chrono::floor<std::chrono::days>(end_of(device) - system_clock::now());
  Json serials = Json::array();
  for (const DeviceKey& key : device.keys) serials.push_back(key.serial);
  return {{"name", device.name},
          {"state", state_of(device, paused)},
          {"enrolled", to_rfc3339(device.enrolled)},
          {"not_after", to_rfc3339(end_of(device))},
          {"days_left", left.count()},
          {"serials", std::move(serials)}};
}

Status print_device(const fleet::Fleet& fleet, const std::string& name, const char* what, bool json) {
  TRY(const auto found, fleet.book().find(name));
  const Device& device = *found;
  const std::string folder = fleet.folder().device(name).string();
  if (json) {
    Json document = {{"schema", "aflguard-device-1"}, {"fleet", fleet.settings().name}};
    TRY(const NameList paused, fleet.paused());
    document["device"] = describe(device, paused);
    document["folder"] = folder;
    std::printf("%s\n", document.dump(2).c_str());
  } else {
    std::printf("device '%s' %s; its certificate ends %s; its files are in %s\n", name.c_str(), what,
                to_rfc3339(end_of(device)).c_str(), folder.c_str());
  }
  return {};
}

/// Those that --count and --prefix, or --from, mean.
Result<std::vector<fleet::ListedDevice>> many(const fleet::Fleet& fleet, const DeviceOptions& options) {
  if (!options.list.empty()) return fleet::read_device_list(options.list);
  TRY(const std::size_t first, fleet.next_number(options.prefix));
  return fleet::numbered_devices(options.prefix, first, options.count);
}

Status add_many(const DeviceOptions& options) {
  const SystemClock clock;
  TRY(auto fleet, fleet::Fleet::open(options.fleet));
  TRY(const auto devices, many(fleet, options));
  TRY(const auto authority, open_authority(fleet.folder()));
  StderrProgress progress;
  TRY_STATUS(fleet.add_devices(devices, options.days, *authority, clock, progress));
  const std::string folder = fleet.folder().devices().string();
  if (options.json) {
    const Json document = {
        {"schema", "aflguard-devices-added-1"}, {"fleet", fleet.settings().name}, {"count", devices.size()},
        {"first", devices.front().name},        {"last", devices.back().name},    {"folder", folder}};
    std::printf("%s\n", document.dump(2).c_str());
  } else {
    std::printf("%zu devices are enrolled, '%s' to '%s'; their files are in %s\n", devices.size(),
                devices.front().name.c_str(), devices.back().name.c_str(), folder.c_str());
  }
  return {};
}

Status add(const DeviceOptions& options) {
  if (options.name.empty()) return add_many(options);
  const SystemClock clock;
  TRY(const fleet::DeviceRequest wanted, order(options));
  TRY(auto fleet, fleet::Fleet::open(options.fleet));
  TRY(const auto authority, open_authority(fleet.folder()));
  TRY_STATUS(about_request(options, fleet.add_device(wanted, *authority, clock)));
  return print_device(fleet, options.name, "is enrolled", options.json);
}

/// Under the name that the access list lets read requests; its key exists as long as this call.
class AuthorityIdentity final {
 public:
  [[nodiscard]] static Result<AuthorityIdentity> make(const fleet::Fleet& fleet,
                                                      fleet::CertificateAuthority& authority,
                                                      const Clock& clock) {
    const std::string name = "authority";
    AuthorityIdentity identity({fleet.settings().name, name, fleet.settings().broker_host,
                                fleet.settings().broker_port, fleet.folder().authority()});
    TRY(const fleet::Credential made,
        authority.issue({.name = name,
                         .use = fleet::CertificateUse::kClient,
                         .alternative_names = {},
                         .not_before = clock.wall() - fleet::kCertificateBackdating,
                         .not_after = clock.wall() + std::chrono::hours(1)}));
    TRY_STATUS(write_file_atomically(identity.viewer_.certificate(), made.certificate.pem));
    TRY_STATUS(write_file_atomically(identity.viewer_.key(), made.private_pem, FileAccess::kOwnerOnly));
    return identity;
  }
  AuthorityIdentity(AuthorityIdentity&& other) noexcept : viewer_(std::exchange(other.viewer_, {})) {}
  AuthorityIdentity& operator=(AuthorityIdentity&&) = delete;
  ~AuthorityIdentity() {
    if (viewer_.name.empty()) return;
    std::error_code ignored;
    std::filesystem::remove(viewer_.certificate(), ignored);
    std::filesystem::remove(viewer_.key(), ignored);
  }
  [[nodiscard]] const fleet::ViewerIdentity& viewer() const { return viewer_; }

 private:
  explicit AuthorityIdentity(fleet::ViewerIdentity viewer) : viewer_(std::move(viewer)) {}
  fleet::ViewerIdentity viewer_;
};

/// Errors of the connection come back as results.
class Silence final : public LogSink {
 public:
  void write(LogLevel, std::string_view) override {}
};

constexpr std::chrono::seconds kBrokerTimeout(30);

Status renew_requested(const DeviceOptions& options) {
  const SystemClock clock;
  Silence log;
  TRY(auto fleet, fleet::Fleet::open(options.fleet));
  TRY(const auto authority, open_authority(fleet.folder()));
  TRY(const AuthorityIdentity identity, AuthorityIdentity::make(fleet, *authority, clock));
  TRY(auto bus, viewer_bus()(identity.viewer(), log));
  TRY(auto desk, fleet::RenewalDesk::open(std::move(bus), fleet.settings().name));
  TRY(auto requests, desk.collect(kBrokerTimeout));
  const auto verifier = signature_verifier();
  std::size_t refused = 0;
  for (auto& [device, envelope] : requests) {
    auto certificate =
        fleet::answer_renewal(fleet, device, std::move(envelope), *authority, *verifier, clock);
    if (certificate.ok()) {
      TRY_STATUS(desk.answer(device, *certificate, kBrokerTimeout));
      TRY(const auto renewed, fleet.book().find(device));
      std::printf("device '%s' has a new certificate, which ends %s\n", device.c_str(),
                  to_rfc3339(end_of(*renewed)).c_str());
      continue;
    }
    ++refused;
    std::printf("refused (%s): %s\n", std::string(to_string(certificate.error().reason)).c_str(),
                certificate.error().message.c_str());
    TRY_STATUS(desk.drop(device, kBrokerTimeout));
  }
  if (requests.empty()) std::printf("no device asks for a certificate\n");
  if (refused == 0) return {};
  return invalid_input(std::to_string(refused) + " of " + std::to_string(requests.size()) +
                       " requests were refused");
}

Status renew(const DeviceOptions& options) {
  if (options.requests) return renew_requested(options);
  if (options.name.empty()) return invalid_input("name a device, or give --requests");
  const SystemClock clock;
  TRY(const fleet::DeviceRequest wanted, order(options));
  TRY(auto fleet, fleet::Fleet::open(options.fleet));
  TRY(const auto authority, open_authority(fleet.folder()));
  TRY_STATUS(about_request(options, fleet.renew_device(wanted, *authority, clock)));
  return print_device(fleet, options.name, "has a new certificate beside the old one", options.json);
}

/// The devices that a command is about: those that it names, and those of a group.
Result<NameList> devices_meant(const fleet::Fleet& fleet, const DeviceOptions& options) {
  NameList names(options.names.begin(), options.names.end());
  if (!options.group.empty()) {
    TRY(const NameList group, fleet.group(options.group));
    names.insert(group.begin(), group.end());
  }
  if (names.empty()) return invalid_input("name a device, or a group with --group");
  return names;
}

Status set_paused(const DeviceOptions& options, bool pause) {
  TRY(auto fleet, fleet::Fleet::open(options.fleet));
  TRY(const NameList names, devices_meant(fleet, options));
  TRY_STATUS(fleet.pause_devices(names, pause));
  for (const std::string& name : names) {
    std::printf("device '%s' is %s\n", name.c_str(),
                pause ? "paused: the gateway takes none of its updates" : "resumed");
  }
  return {};
}

Status pause(const DeviceOptions& options) {
  return set_paused(options, true);
}

Status resume(const DeviceOptions& options) {
  return set_paused(options, false);
}

Status set_group(const DeviceOptions& options) {
  TRY(auto fleet, fleet::Fleet::open(options.fleet));
  TRY_STATUS(fleet.set_group(options.group, NameList(options.names.begin(), options.names.end())));
  std::printf(options.names.empty() ? "there is no group '%s' any more\n" : "group '%s' has %zu devices\n",
              options.group.c_str(), options.names.size());
  return {};
}

Status list(const DeviceOptions& options) {
  TRY(const auto fleet, fleet::Fleet::open(options.fleet));
  TRY(const NameList paused, fleet.paused());
  if (options.json) {
    Json document = {
        {"schema", "aflguard-device-list-1"}, {"fleet", fleet.settings().name}, {"devices", Json::array()}};
    TRY_STATUS(fleet.book().each([&](const Device& device) -> Status {
      document["devices"].push_back(describe(device, paused));
      return {};
    }));
    std::printf("%s\n", document.dump(2).c_str());
    return {};
  }
  std::printf("%-24s %-8s %-21s %s\n", "name", "state", "certificate ends", "enrolled");
  return fleet.book().each([&](const Device& device) -> Status {
    std::printf("%-24s %-8s %-21s %s\n", device.name.c_str(), state_of(device, paused),
                to_rfc3339(end_of(device)).c_str(), to_rfc3339(device.enrolled).c_str());
    return {};
  });
}

Status revoke(const DeviceOptions& options) {
  const SystemClock clock;
  TRY(auto fleet, fleet::Fleet::open(options.fleet));
  TRY(const auto authority, open_authority(fleet.folder()));
  const auto outcome = fleet::cut_off_device(fleet, options.name, *authority, clock, fleet::kCutOffTimeout);
  TRY(const auto device, fleet.book().find(options.name));
  if (!outcome.ok() && device && device->revoked) {
    return Error{outcome.error().kind, "device '" + options.name +
                                           "' is revoked in the book and the lists, but perhaps not at the "
                                           "broker: " +
                                           outcome.error().message + "; then run this again"};
  }
  if (!outcome.ok()) return outcome.error();
  const bool running = *outcome == fleet::CutOff::kDone;
  if (options.json) {
    Json document = {{"schema", "aflguard-device-1"}, {"fleet", fleet.settings().name}};
    document["device"] = describe(*device, {});
    document["broker"] = running ? "enforced" : "not running";
    std::printf("%s\n", document.dump(2).c_str());
  } else {
    std::printf("device '%s' is revoked; %s\n", options.name.c_str(),
                running ? "the broker refuses it, and its session has ended"
                        : "the broker does not run here and will refuse it when it starts");
  }
  return {};
}

/// On standard error: the bundle is made all the same, the samples may come to the board by another way.
/// Fails only where no board could read its client.toml.
Status warn_of_missing_samples(const fleet::Fleet& fleet, const std::string& name) {
  const std::filesystem::path folder = fleet.folder().device(name);
  TRY(const auto missing, fleet::samples_not_in_bundle(folder));
  for (const std::string& file : missing) {
    std::fprintf(
        stderr,
        "aflguard: warning: client.toml names the samples '%s', which are not in %s: the board will not "
        "find them; put them there, or name a file of the board's own\n",
        file.c_str(), folder.c_str());
  }
  return {};
}

/// A folder with all that goes to the boot partition of a stock Raspberry Pi OS.
Status boot_bundle(const DeviceOptions& options) {
  TRY(const auto fleet, fleet::Fleet::open(options.fleet));
  TRY(const auto request, fleet::boot_bundle_request(fleet, options.name, options.ssh_keys));
  TRY(const auto named, image::find_client_packages(options.packages));
  TRY(const auto found, image::look_at_packages(named));
  std::vector<fleet::BootPackage> packages;
  for (const image::PackageFile& package : found) packages.push_back({package.name, package.file});
  TRY_STATUS(warn_of_missing_samples(fleet, options.name));
  TRY_STATUS(fleet::write_boot_bundle(request, packages, options.output));
  std::printf(
      "%s: copy everything in it to the boot partition of a card with Raspberry Pi OS (64 bit); it holds the "
      "device's key: keep it secret\n",
      options.output.c_str());
  return {};
}

/// One archive for each, in a folder that only its owner can read.
Status bundle_many(const DeviceOptions& options) {
  TRY(const auto fleet, fleet::Fleet::open(options.fleet));
  std::vector<std::string> names;
  if (options.list.empty()) {
    TRY(names, fleet.active_names(options.prefix));
    if (names.empty())
      return not_found("the fleet has no device whose name begins with '" + options.prefix + "'");
  } else {
    TRY(const auto devices, fleet::read_device_list(options.list));
    for (const fleet::ListedDevice& device : devices) names.push_back(device.name);
  }
  StderrProgress progress;
  TRY_STATUS(fleet::write_device_bundles(fleet, names, options.output, progress));
  std::printf("%zu bundles are in %s, NAME.tar each; they hold the devices' keys: keep them secret\n",
              names.size(), options.output.c_str());
  return {};
}

Status bundle(const DeviceOptions& options) {
  if (options.boot) return boot_bundle(options);
  if (options.name.empty()) return bundle_many(options);
  TRY(const auto fleet, fleet::Fleet::open(options.fleet));
  TRY(const std::string archive, fleet::device_bundle(fleet, options.name));
  TRY_STATUS(warn_of_missing_samples(fleet, options.name));
  TRY_STATUS(write_file_atomically(options.output, archive, FileAccess::kOwnerOnly));
  std::printf(
      "%s: unpack it on the board, e.g. tar -xf %s -C /etc/aflguard%s\n", options.output.c_str(),
      options.output.c_str(),
      fleet::has_key(fleet.folder(), options.name) ? "; it holds the device's key: keep it secret" : "");
  return {};
}

void add_certificate_options(CLI::App* verb, DeviceOptions& options) {
  verb->add_option(
      "--csr", options.request,
      "A signing request (PEM) for a key that was made on the device; otherwise a key is made here");
  verb->add_option("--days", options.days, "How long the certificate is valid; otherwise as fleet.toml says")
      ->check(CLI::Range(1, 7000));
}

}  // namespace

void add_device_verbs(CLI::App& app, Action& action) {
  auto options = std::make_shared<DeviceOptions>();
  CLI::App* device = app.add_subcommand("device", "Enrol, list, renew and revoke a fleet's devices");
  device->require_subcommand(1);
  device->footer(
      "AFLGUARD_FLEET stands for --fleet.\n\nExample:\n  aflguard device add pi-1 --fleet greenhouse");

  const VerbGroup<DeviceOptions> verbs(*device, options, action);
  CLI::App* verb = verbs.add({"add", "Enrol a device, or many",
                              "aflguard device add pi-1 --fleet greenhouse\n  aflguard device add --count "
                              "1000 --prefix pi- --fleet greenhouse\n  aflguard device add --from boards.csv "
                              "--fleet greenhouse"},
                             add);
  add_certificate_options(verb, *options);
  CLI::Option* request = verb->get_option("--csr");
  CLI::Option_group* which = verb->add_option_group("which");
  which->require_option(1);
  which->add_option("name", options->name, "Its name, which no device had before");
  CLI::Option* count = which
                           ->add_option("--count", options->count,
                                        "So many, PREFIX1, PREFIX2, ...; numbers go on where the fleet's end")
                           ->check(CLI::Range(std::size_t{1}, kMaxDevicesInBook))
                           ->excludes(request);
  verb->add_option("--prefix", options->prefix, "With --count: how their names begin")->needs(count);
  count->needs(verb->get_option("--prefix"));
  which
      ->add_option("--from", options->list,
                   "A file with a name on each line, and after a comma the file of a signing request, if the "
                   "key was made on the device")
      ->excludes(request);
  verb->add_flag("--json", options->json, "Print one JSON document");

  verb = verbs.add({"renew", "A new certificate; the old one stays good until it ends",
                    "aflguard device renew pi-1 --fleet greenhouse"},
                   renew);
  add_certificate_options(verb, *options);
  auto* name = verb->add_option("name", options->name, "An enrolled device");
  auto* json = verb->add_flag("--json", options->json, "Print one JSON document");
  verb->add_flag("--requests", options->requests,
                 "Answer every device that asks for a certificate over the broker")
      ->excludes(name)
      ->excludes(json);

  verb = verbs.add({"list", "Every device, with the end of its certificate",
                    "aflguard device list --fleet greenhouse --json"},
                   list);
  verb->add_flag("--json", options->json, "Print one JSON document");

  for (const auto& [called, about, run] :
       {std::tuple{"pause", "Take no updates of a device for now; it keeps what waits", &pause},
        std::tuple{"resume", "Take its updates again", &resume}}) {
    verb = verbs.add({called, about, "aflguard device pause --group greenhouse-2 --fleet greenhouse"}, run);
    verb->add_option("names", options->names, "Enrolled devices");
    verb->add_option("--group", options->group, "... and those of this group");
  }
  verb = verbs.add({"group", "Name a set of devices, for --group; without devices: forget it",
                    "aflguard device group greenhouse-2 pi-3 pi-4 --fleet greenhouse"},
                   set_group);
  verb->add_option("group", options->group, "The group's name")->required();
  verb->add_option("names", options->names, "Enrolled devices");

  verb = verbs.add({"revoke", "Shut a device out for good, also while it is connected",
                    "aflguard device revoke pi-1 --fleet greenhouse"},
                   revoke);
  verb->add_option("name", options->name, "An enrolled device")->required();
  verb->add_flag("--json", options->json, "Print one JSON document");

  verb =
      verbs.add({"bundle", "One file with everything that goes to the board, for one device or many",
                 "aflguard device bundle pi-1 --fleet greenhouse -o pi-1.tar\n  aflguard device bundle pi-1 "
                 "--fleet greenhouse "
                 "--boot --ssh-key ~/.ssh/id_ed25519.pub -o pi-1-boot\n  aflguard device bundle --prefix pi- "
                 "--fleet greenhouse -o bundles"},
                bundle);
  CLI::Option_group* bundled = verb->add_option_group("which");
  bundled->require_option(1);
  CLI::Option* one = bundled->add_option("name", options->name, "An enrolled device");
  bundled->add_option("--prefix", options->prefix, "Every enrolled device whose name begins so");
  bundled->add_option("--from", options->list, "The devices of a list, as for 'device add'");
  verb->add_option("-o,--output", options->output,
                   "The tar archive to write; with --boot, --prefix or --from, the folder")
      ->required();
  CLI::Option* boot = verb->add_flag("--boot", options->boot,
                                     "Make a folder with all that goes to the boot partition of a stock "
                                     "Raspberry Pi OS (64 bit); not tried on a real board yet")
                          ->needs(one);
  // One value each: what follows it is the device's name.
  verb->add_option("--deb", options->packages,
                   "With --boot: the client's package for arm64; otherwise what ./run package has made")
      ->allow_extra_args(false)
      ->needs(boot);
  verb->add_option("--ssh-key", options->ssh_keys,
                   "With --boot: a file of ssh public keys that may log in as 'admin'; without it, logging "
                   "in is impossible")
      ->needs(boot);
}

}  // namespace aflguard::cli
