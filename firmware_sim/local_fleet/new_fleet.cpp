#include "firmware_sim/local_fleet/new_fleet.h"

namespace aflguard::sim {

Result<fleet::OpensslAuthority> provision_fleet(
    const std::filesystem::path& root, const fleet::FleetSettings& settings,
    const std::optional<std::filesystem::path>& model, const Clock& clock,
    const std::function<Status(const fleet::FleetFolder&)>& prepare) {
  TRY(auto authority,
      fleet::OpensslAuthority::create(settings.name, clock.wall() - fleet::kCertificateBackdating,
                                      clock.wall() + fleet::kAuthorityLifetime));
  TRY_STATUS(fleet::create_fleet(root, settings, authority, model, clock, prepare));
  return authority;
}

}  // namespace aflguard::sim
