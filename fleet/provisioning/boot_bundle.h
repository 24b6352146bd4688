#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "fleet/provisioning/provisioning.h"

namespace aflguard::fleet {

/// A file for the boot partition of a stock Raspberry Pi OS.
struct BootBundleFile {
  std::string path;  ///< relative to the partition
  std::string content;
  bool secret = false;
};

/// What a stock Raspberry Pi OS needs to become `device` at its first boot.
struct BootBundleRequest {
  std::string device;
  std::string serial;    ///< of its newest certificate: for cloud-init another one is another instance
  std::string identity;  ///< the archive of device_bundle()
  std::vector<std::string> ssh_keys;  ///< of read_ssh_keys(), for the account `admin`; none: no such account
};

/// cloud-init's files, the identity, and the script that installs both; the client's package comes beside
/// that script as aflguard-client.deb. kInvalidInput for an ssh key that is none.
[[nodiscard]] Result<std::vector<BootBundleFile>> boot_bundle_files(const BootBundleRequest& order);

/// Where the client's package goes.
inline constexpr const char* kBootBundlePackages = "aflguard";

/// A Debian package for the board, by the name that it has inside.
struct BootPackage {
  std::string name;
  std::filesystem::path file;
};

/// What the fleet has for a device that has its key here; `ssh_keys`: a file of them, or empty. kInvalidInput
/// when the device made its key on its board.
[[nodiscard]] Result<BootBundleRequest> boot_bundle_request(const Fleet& fleet, const std::string& device,
                                                            const std::filesystem::path& ssh_keys);

/// Everything for the boot partition, in a new folder that only its owner can read; whole or not at all.
[[nodiscard]] Status write_boot_bundle(const BootBundleRequest& request,
                                       const std::vector<BootPackage>& packages,
                                       const std::filesystem::path& folder);

/// The public keys in a file like authorized_keys: one per line, type and key without what follows. Options
/// in front of a key are refused.
[[nodiscard]] Result<std::vector<std::string>> read_ssh_keys(const std::string& text);

/// A device's name as a host may be called: small letters, digits and dashes, at most 63.
[[nodiscard]] std::string host_name_of(const std::string& device);

}  // namespace aflguard::fleet
