#include <algorithm>

#include "firmware_sim/image/base_system.h"
#include "tests/support/test.h"

using namespace aflguard::image;

TEST("Mirrors are those of the machine's own apt, for any release of Debian") {
  const auto found = find_mirrors(
      "http://mirror.example/debian/ trixie-updates\nhttp://mirror.example/debian/ trixie\n"
      "http://other.example/debian/ bookworm\nhttp://mirror.example/security/ trixie-security\n");
  ASSERT_OK(found);
  TEST_ASSERT_EQUAL_STRING("http://mirror.example/debian/", found->main.c_str());
  TEST_ASSERT_EQUAL_STRING("http://mirror.example/security/", found->security.c_str());
  ASSERT_CONTAINS(find_mirrors("").error().message, "knows no Debian mirror");
}

TEST("A board's package sources name every part of a release, firmware too, and check signatures") {
  const std::string with = package_sources({"http://m/debian", "http://m/security"}, "bookworm");
  TEST_ASSERT_EQUAL_INT(3, std::count(with.begin(), with.end(), '\n'));
  ASSERT_CONTAINS(with, "http://m/debian bookworm main non-free-firmware\n");
  ASSERT_CONTAINS(with, "http://m/debian bookworm-updates main non-free-firmware\n");
  ASSERT_CONTAINS(with, "http://m/security bookworm-security main non-free-firmware\n");
  ASSERT_CONTAINS(with, "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ");
  const std::string without = package_sources({"http://m/debian", ""}, "bookworm");
  TEST_ASSERT_EQUAL_INT(2, std::count(without.begin(), without.end(), '\n'));
}

TEST("A cached base is used again only for the same release and the same recipe") {
  TEST_ASSERT_EQUAL_STRING(base_key("bookworm", "a").c_str(), base_key("bookworm", "a").c_str());
  TEST_ASSERT_TRUE(base_key("bookworm", "a") != base_key("bookworm", "b"));
  TEST_ASSERT_TRUE(base_key("bookworm", "a") != base_key("trixie", "a"));
}

TEST("A board has what its first boot needs") {
  const auto& packages = base_packages();
  for (const char* needed : {"raspi-firmware", "linux-image-arm64", "initramfs-tools", "systemd-sysv",
                             "fdisk", "e2fsprogs", "openssh-server", "wpasupplicant", "firmware-brcm80211"}) {
    TEST_ASSERT_TRUE_MESSAGE(std::find(packages.begin(), packages.end(), needed) != packages.end(), needed);
  }
}
