#pragma once

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/book/device_book.h"
#include "fleet/folder/fleet_folder.h"
#include "fleet/provisioning/certificate_authority.h"

namespace aflguard::fleet {

/// The name under which the operator's side publishes; no device and no viewer gets it.
inline constexpr const char* kReleaseName = "release";
/// The public half of the release key, in the folders of gateway and devices.
inline constexpr const char* kReleasePublicKey = "release.pem";

/// The release key signs what boards run and follow: model packages. It lies beside the authority's key, and
/// broker and gateway have its public half only: who takes them over can send no code. Makes the key unless
/// there is one, and puts the public half into the folders of the gateway and of the devices in the book.
[[nodiscard]] Status provide_release_key(const FleetFolder& folder, DeviceBook& book,
                                         CertificateAuthority& authority, const Clock& clock);

/// The public half into one more folder, where there is a key.
[[nodiscard]] Status copy_release_key(const FleetFolder& folder, const std::filesystem::path& to);

/// A certificate with which the release key's holder connects to the broker, for an hour.
[[nodiscard]] Status certify_release_key(const FleetFolder& folder, CertificateAuthority& authority,
                                         const Clock& clock);

}  // namespace aflguard::fleet
