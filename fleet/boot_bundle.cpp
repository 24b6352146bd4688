#include "fleet/boot_bundle.h"

#include <algorithm>
#include <sstream>

namespace aflguard {
namespace {

constexpr std::size_t kMaxHostName = 63;

constexpr const char* kSetup = R"sh(#!/bin/sh
# Run once at the first boot (by cloud-init), or by hand: sudo sh /boot/firmware/aflguard/setup.sh
# Installs the client and the identity that lies beside this folder. Running it again does no harm.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export DEBIAN_FRONTEND=noninteractive
# The package brings all that is not in every Raspberry Pi OS; apt is asked only if something is missing all the same.
dpkg --install "$here"/*.deb || { apt-get update && apt-get --yes --fix-broken install; }
systemctl daemon-reload
if [ -f "$here/../aflguard-identity.tar" ]; then
  /usr/lib/aflguard/take-identity "$(cd "$here/.." && pwd)/aflguard-identity.tar"
fi
systemctl enable aflguard-identity.service aflguard-client.service
systemctl restart aflguard-client.service
)sh";

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
    "  network-config.example    fill in and rename to network-config for Wi-Fi\r\n"
    "  aflguard/                 the client's package and the script that installs it\r\n"
    "  aflguard-identity.tar     who the board is, its key included: taken at the first boot, then "
    "removed\r\n"
    "\r\n"
    "A Raspberry Pi OS without cloud-init: log in and run: sudo sh /boot/firmware/aflguard/setup.sh\r\n";

std::string user_data(const BootBundleOrder& order) {
  std::string text =
      "#cloud-config\n"
      "# Makes this board the device '" +
      order.device +
      "' of an AFLGuard fleet at its first boot.\n"
      "hostname: " +
      host_name_of(order.device) +
      "\nmanage_etc_hosts: true\n"
      "# There are no passwords to guess.\n"
      "ssh_pwauth: false\n";
  if (!order.ssh_keys.empty()) {
    text +=
        "users:\n  - name: admin\n    groups: [sudo]\n    shell: /bin/bash\n    lock_passwd: true\n"
        "    sudo: \"ALL=(ALL) NOPASSWD:ALL\"\n    ssh_authorized_keys:\n";
    for (const std::string& key : order.ssh_keys) text += "      - \"" + key + "\"\n";
  }
  return text + "runcmd:\n  - [sh, /boot/firmware/aflguard/setup.sh]\n";
}

std::string meta_data(const BootBundleOrder& order) {
  return "instance-id: aflguard-" + host_name_of(order.device) + "-" + order.serial +
         "\nlocal-hostname: " + host_name_of(order.device) + "\n";
}

bool is_key_character(char letter) {
  return letter >= ' ' && letter <= '~' && letter != '"' && letter != '\\';
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
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.empty() || line.starts_with("#")) continue;
    const bool known = line.starts_with("ssh-") || line.starts_with("ecdsa-") || line.starts_with("sk-");
    if (!known || line.find(' ') == std::string::npos ||
        !std::all_of(line.begin(), line.end(), is_key_character)) {
      return invalid_input("'" + line.substr(0, 40) +
                           "' is no ssh public key; give a file like ~/.ssh/id_ed25519.pub");
    }
    keys.push_back(line);
  }
  if (keys.empty())
    return invalid_input("it holds no ssh public key; give a file like ~/.ssh/id_ed25519.pub");
  return keys;
}

Result<std::vector<BootBundleFile>> boot_bundle_files(const BootBundleOrder& order) {
  for (const std::string& key : order.ssh_keys) {
    if (auto checked = read_ssh_keys(key); !checked.ok()) return checked.error();
  }
  return std::vector<BootBundleFile>{
      {"user-data", user_data(order)},
      {"meta-data", meta_data(order)},
      {"network-config.example", kNetworkExample},
      {"aflguard-readme.txt", kReadMe},
      {std::string(kBootBundlePackages) + "/setup.sh", kSetup},
      {"aflguard-identity.tar", order.identity, /*secret=*/true},
  };
}

}  // namespace aflguard
