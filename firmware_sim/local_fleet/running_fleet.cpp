#include "firmware_sim/local_fleet/running_fleet.h"

namespace aflguard::sim {

Status RunningFleet::start(const std::vector<ClientCommand>& clients) {
  TRY_STATUS(launcher_.check_gateway());
  TRY_STATUS(launcher_.start_broker());
  TRY_STATUS(launcher_.start_gateway());
  for (const ClientCommand& client : clients) TRY_STATUS(launcher_.start_client(client));
  return {};
}

}  // namespace aflguard::sim
