#include "fleet/doctor/doctor.h"

namespace aflguard::fleet {
namespace {

void examine_fleet(Findings& findings, const FleetFolder& folder, const Clock& clock,
                   const view::BusFactory& connect) {
  if (!examine_files(findings, folder, clock)) return;
  const auto settings = read_fleet_settings(folder.settings());
  if (settings.ok() && examine_broker(findings, folder, *settings)) {
    examine_gateway(findings, folder, clock, connect);
  }
}

}  // namespace

Findings examine(const DoctorRequest& request, const Clock& clock, const view::BusFactory& connect) {
  Findings findings;
  examine_machine(findings, clock, !request.fleet.empty());
  if (request.fleet.empty()) {
    examine_disk(findings, "disk", "/");
  } else {
    const FleetFolder folder{std::filesystem::absolute(request.fleet).lexically_normal()};
    examine_fleet(findings, folder, clock, connect);
  }
  if (!request.client.empty()) examine_client(findings, request.client, clock);
  return findings;
}

}  // namespace aflguard::fleet
