#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "fleet/provisioning/provisioning.h"
#include "fleet/provisioning_openssl/openssl_authority.h"

namespace aflguard::sim {

/// Provisions a fleet in `root` as `aflguard fleet init` does, with its own authority, which enrols
/// devices afterwards. `prepare` adds to the folder before it is seen.
[[nodiscard]] Result<fleet::OpensslAuthority> provision_fleet(
    const std::filesystem::path& root, const fleet::FleetSettings& settings,
    const std::optional<std::filesystem::path>& model, const Clock& clock,
    const std::function<Status(const fleet::FleetFolder&)>& prepare = {});

}  // namespace aflguard::sim
