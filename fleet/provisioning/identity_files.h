#pragma once

#include <filesystem>
#include <string>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "fleet/folder/fleet_settings.h"
#include "fleet/folder/viewer_book.h"
#include "fleet/provisioning/certificate_authority.h"

namespace aflguard::fleet {

/// One program's identity in a folder that exists: NAME.crt, NAME.key and the authority's certificate.
[[nodiscard]] Status write_identity(const std::filesystem::path& folder, const std::string& name,
                                    const Credential& credential, const CertificateAuthority& authority);

/// Makes the folder of a viewer, with identity and viewer.toml, and what goes into the book.
[[nodiscard]] Result<Viewer> make_viewer(const std::filesystem::path& folder, const std::string& name,
                                         const FleetSettings& settings, int days,
                                         CertificateAuthority& authority, const Clock& clock);

}  // namespace aflguard::fleet
