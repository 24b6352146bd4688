#include "fleet/provisioning/boot_bundle.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string_view>

#include "core/system/atomic_file.h"
#include "fleet/provisioning/device_key.h"

namespace aflguard::fleet {
namespace {

constexpr std::size_t kMaxHostName = 63;
constexpr std::uint64_t kMaxSshKeyBytes = 64 << 10;
constexpr std::size_t kMaxShown = 40;

constexpr const char* kSetup = R"sh(#!/bin/sh
# Makes this board a device of its fleet. cloud-init starts it at every boot for as long as the identity lies beside
# this folder; by hand: sudo sh /boot/firmware/aflguard/setup.sh
# Whatever a power loss has left behind, the next run goes on from there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
identity=${here%/*}/aflguard-identity.tar
note=${here%/*}/aflguard-identity-problem.txt
export DEBIAN_FRONTEND=noninteractive LC_ALL=C

fail() {
  echo "setup: $1" >&2
  printf '%s\r\n' "The board was not set up: $1" >"$note" || true
  sync
  exit 1
}
install_packages() {
  apt-get --yes --allow-downgrades -o DPkg::Lock::Timeout=600 install "$here"/*.deb 2>&1
}
rm -f "$note"
@ssh@
# Nothing to do unless a power loss came between.
dpkg --configure -a || true
# The package brings all that is not in every Raspberry Pi OS; a network is needed only if something is missing all the
# same.
said=$(install_packages) || said="$said
$(apt-get update 2>&1 && install_packages)" || true
printf '%s\n' "$said"
# Other packages of this system may be broken; ours must not.
wanted=$(dpkg-deb --field "$here/aflguard-client.deb" Version) || fail "aflguard/aflguard-client.deb is damaged; copy it again"
is=$(dpkg-query --show --showformat '${db:Status-Status} ${Version}' aflguard-client 2>/dev/null) || is="not installed"
[ "$is" = "installed $wanted" ] ||
  fail "aflguard-client $wanted could not be installed, it is $is: $(printf '%s\n' "$said" | grep -i -m 1 -e '^E: ' -e error)"

systemctl daemon-reload
# The service, and not its program: at a later boot it may be at work already. Its program says in the note what it did
# not like.
systemctl start aflguard-identity.service || true
if [ -e "$identity" ]; then
  [ ! -e "$note" ] || exit 1
  fail "its identity was not taken; journalctl -u aflguard-identity says why"
fi
systemctl enable aflguard-identity.service aflguard-client.service
systemctl --no-block restart aflguard-client.service
)sh";

constexpr const char* kOpenSsh =
    R"sh(# Raspberry Pi OS has it switched off. First, so that one can look when the rest fails.
systemctl enable --now --no-block ssh.service || true
)sh";

// cloud-init runs these at every boot, early: what a power loss interrupts is done at the next one, and the
// wizard that waits for a keyboard comes later. `runcmd` has neither. The set-up itself waits in a separate
// service until the file systems are there, so that nothing at boot waits for it. Before the identity's
// service: that one would take the archive at a later boot, and a newer package beside it would not be
// installed.
constexpr const char* kBootCommands =
    R"yaml(bootcmd:
  - [systemctl, mask, --now, --no-block, userconfig.service]
  - [systemd-run, --no-block, --collect, --unit=aflguard-setup,
     --property=RequiresMountsFor=/boot/firmware, --property=ConditionPathExists=/boot/firmware/aflguard-identity.tar,
     --property=Wants=network-online.target, --property=After=network-online.target,
     --property=Before=aflguard-identity.service,
     sh, /boot/firmware/aflguard/setup.sh]
)yaml";

constexpr const char* kNetworkExample =
    R"yaml(# Wi-Fi for cloud-init: fill in, and rename this file to network-config. A cable needs no such file.
network:
  version: 2
  wifis:
    wlan0:
      dhcp4: true
      regulatory-domain: "DE"
      access-points:
        "the name":
          password: "the password"
)yaml";

constexpr const char* kReadMe =
    "Copy everything in this folder to the boot partition (bootfs) of a card with Raspberry Pi OS (64 "
    "bit),\r\n"
    "before the board starts from it for the first time.\r\n"
    "\r\n"
    "  user-data, meta-data      read by cloud-init at the first boot\r\n"
    "  ssh                       (only with a key) switches the ssh server on\r\n"
    "  network-config.example    fill in and rename to network-config for Wi-Fi\r\n"
    "  aflguard/                 the client's package and the script that installs it\r\n"
    "  aflguard-identity.tar     who the board is, its key included: taken at the first boot, then "
    "removed\r\n"
    "\r\n"
    "A Raspberry Pi OS without cloud-init: log in and run: sudo sh /boot/firmware/aflguard/setup.sh\r\n";

/// YAML takes some names for numbers and truths: 007, 1e3, on, null.
std::string quoted(const std::string& name) {
  return '"' + name + '"';
}

std::string user_data(const BootBundleRequest& order) {
  std::string text =
      "#cloud-config\n"
      "# Makes this board the device '" +
      order.device +
      "' of an AFLGuard fleet at its first boot.\n"
      "hostname: " +
      quoted(host_name_of(order.device)) +
      "\n"
      "# Other lines of /etc/hosts stay: an operator's may be the gateway's address.\n"
      "manage_etc_hosts: localhost\n"
      "# There are no passwords to guess.\n"
      "ssh_pwauth: false\n";
  if (!order.ssh_keys.empty()) {
    text +=
        "users:\n  - name: admin\n    groups: [sudo]\n    shell: /bin/bash\n    lock_passwd: true\n"
        "    sudo: \"ALL=(ALL) NOPASSWD:ALL\"\n    ssh_authorized_keys:\n";
    for (const std::string& key : order.ssh_keys) text += "      - \"" + key + "\"\n";
  }
  return text + kBootCommands;
}

std::string meta_data(const BootBundleRequest& order) {
  const std::string host = host_name_of(order.device);
  return "instance-id: " + quoted("aflguard-" + host + "-" + order.serial) +
         "\nlocal-hostname: " + quoted(host) + "\n";
}

std::string setup(const BootBundleRequest& order) {
  std::string text = kSetup;
  const std::string mark = "@ssh@\n";
  return text.replace(text.find(mark), mark.size(), order.ssh_keys.empty() ? "" : kOpenSsh);
}

/// What sshd of Debian 12 and later takes.
constexpr const char* kKeyTypes[] = {"ssh-ed25519",
                                     "ssh-rsa",
                                     "ecdsa-sha2-nistp256",
                                     "ecdsa-sha2-nistp384",
                                     "ecdsa-sha2-nistp521",
                                     "sk-ssh-ed25519@openssh.com",
                                     "sk-ecdsa-sha2-nistp256@openssh.com"};

bool is_base64(std::string_view text) {
  const auto end = text.find_last_not_of('=') + 1;
  constexpr const char* kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  return end > 0 && text.size() % 4 == 0 && text.size() - end <= 2 &&
         text.substr(0, end).find_first_not_of(kLetters) == std::string_view::npos;
}

}  // namespace

std::string host_name_of(const std::string& device) {
  std::string name;
  for (const char letter : device) {
    if (letter >= 'A' && letter <= 'Z') {
      name += static_cast<char>(letter - 'A' + 'a');
    } else if (letter == '_' || letter == '.') {
      name += '-';
    } else if ((letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-') {
      name += letter;
    }
  }
  const auto begin = name.find_first_not_of('-');
  name.erase(0, std::min(begin, name.size()));
  name.resize(std::min(name.size(), kMaxHostName));
  name.erase(name.find_last_not_of('-') + 1);
  return name.empty() ? "aflguard-board" : name;
}

Result<std::vector<std::string>> read_ssh_keys(const std::string& text) {
  std::vector<std::string> keys;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string type;
    std::string key;
    words >> type >> key;
    if (type.empty() || type.starts_with("#")) continue;
    const bool known = std::find(std::begin(kKeyTypes), std::end(kKeyTypes), type) != std::end(kKeyTypes);
    if (!known || !is_base64(key)) {
      return invalid_input("the line that begins with '" + type.substr(0, kMaxShown) +
                           "' is not an ssh public key; give a file like ~/.ssh/id_ed25519.pub");
    }
    keys.push_back(type + " " + key);
  }
  if (keys.empty())
    return invalid_input("it holds no ssh public key; give a file like ~/.ssh/id_ed25519.pub");
  return keys;
}

Result<std::vector<BootBundleFile>> boot_bundle_files(const BootBundleRequest& order) {
  for (const std::string& key : order.ssh_keys) {
    TRY(const auto checked, read_ssh_keys(key));
    if (checked != std::vector<std::string>{key})
      return invalid_input("'" + key + "' is not a single ssh key");
  }
  std::vector<BootBundleFile> files = {
      {"user-data", user_data(order)},
      {"meta-data", meta_data(order)},
      {"network-config.example", kNetworkExample},
      {"aflguard-readme.txt", kReadMe},
      {std::string(kBootBundlePackages) + "/setup.sh", setup(order)},
      {"aflguard-identity.tar", order.identity, /*secret=*/true},
  };
  if (!order.ssh_keys.empty()) files.push_back({"ssh", ""});
  return files;
}

Result<BootBundleRequest> boot_bundle_request(const Fleet& fleet, const std::string& device,
                                              const std::filesystem::path& ssh_keys) {
  BootBundleRequest made;
  made.device = device;
  TRY(made.identity, device_bundle(fleet, device));
  if (!has_key(fleet.folder(), device)) {
    return invalid_input(
        "device '" + device +
        "' has made its key on the board, and only there: a new card would be without it; make "
        "the plain bundle (without --boot) and unpack it on that board");
  }
  TRY(const auto known, fleet.book().find(device));
  made.serial = known->keys.back().serial;
  if (ssh_keys.empty()) return made;
  TRY(const std::string text, read_text_file(ssh_keys, kMaxSshKeyBytes));
  auto keys = read_ssh_keys(text);
  if (!keys.ok()) return at(ssh_keys.string(), keys.error());
  made.ssh_keys = std::move(keys).value();
  return made;
}

Status write_boot_bundle(const BootBundleRequest& request, const std::vector<BootPackage>& packages,
                         const std::filesystem::path& folder) {
  TRY(const auto files, boot_bundle_files(request));
  TRY(auto staged, StagedDirectory::create(folder, /*replace=*/false));
  std::error_code error;
  std::filesystem::permissions(staged.path(), std::filesystem::perms::owner_all, error);
  std::filesystem::create_directories(staged.path() / kBootBundlePackages, error);
  for (const BootBundleFile& file : files) {
    const auto access = file.secret ? FileAccess::kOwnerOnly : FileAccess::kShared;
    TRY_STATUS(write_file_atomically(staged.path() / file.path, file.content, access));
  }
  for (const BootPackage& package : packages) {
    // The set-up takes *.deb, whatever the file was called here.
    std::filesystem::copy_file(package.file, staged.path() / kBootBundlePackages / (package.name + ".deb"),
                               error);
    if (error) return io_error("cannot copy " + package.file.string() + ": " + error.message());
  }
  return staged.commit();
}

}  // namespace aflguard::fleet
