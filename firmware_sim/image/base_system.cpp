#include "firmware_sim/image/base_system.h"

#include <sstream>

#include "core/base/sha256.h"

namespace aflguard::image {
namespace {

constexpr std::size_t kKeyLength = 12;
constexpr const char* kKeyring = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ";
constexpr const char* kComponents = " main non-free-firmware\n";

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

const std::vector<std::string>& known_suites() {
  static const std::vector<std::string> suites = {"bookworm"};
  return suites;
}

const std::vector<std::string>& base_packages() {
  static const std::vector<std::string> packages = {
      // What starts: firmware and kernel of the boards.
      "raspi-firmware", "linux-image-arm64", "initramfs-tools", "kmod", "udev",
      // What runs.
      "systemd-sysv", "dbus", "libpam-systemd", "systemd-timesyncd", "systemd-resolved",
      // Cards: grown at the first boot, checked at every one.
      "fdisk", "e2fsprogs", "dosfstools",
      // Networks.
      "iproute2", "wpasupplicant", "wireless-regdb", "iw", "firmware-brcm80211",
      // People.
      "openssh-server", "sudo", "nano", "less", "procps",
      // What the client's package needs.
      "adduser", "libssl3", "libstdc++6", "libzstd1"};
  return packages;
}

Result<Mirrors> find_mirrors(const std::string& targets) {
  Mirrors found;
  std::istringstream lines(targets);
  for (std::string uri, codename; lines >> uri >> codename;) {
    if (ends_with(codename, "-security")) {
      if (found.security.empty()) found.security = uri;
    } else if (codename.find('-') == std::string::npos && found.main.empty()) {
      found.main = uri;
    }
  }
  if (found.main.empty()) {
    return not_found(
        "this machine's apt knows no Debian mirror; add one to /etc/apt/sources.list and run apt-get update");
  }
  return found;
}

std::string package_sources(const Mirrors& mirrors, const std::string& suite) {
  const std::string begin = std::string("deb ") + kKeyring;
  std::string text = begin + mirrors.main + " " + suite + kComponents;
  text += begin + mirrors.main + " " + suite + "-updates" + kComponents;
  if (!mirrors.security.empty()) text += begin + mirrors.security + " " + suite + "-security" + kComponents;
  return text;
}

std::string base_key(const std::string& suite, const std::string& recipe) {
  std::string all = suite + "\n" + recipe + "\n";
  for (const std::string& package : base_packages()) all += package + "\n";
  return sha256_hex(all).substr(0, kKeyLength);
}

}  // namespace aflguard::image
