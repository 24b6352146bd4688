#include "gateway_server/telemetry/gateway_health.h"

namespace aflguard::gateway {

GatewayHealth::GatewayHealth(const GatewayCounters& counters, const Clock& clock)
    : counters_(counters), clock_(clock) {
  note_bus_thread();
}

void GatewayHealth::note_bus_thread() {
  bus_alive_ms_ =
      std::chrono::duration_cast<std::chrono::milliseconds>(clock_.steady().time_since_epoch()).count();
}

bool GatewayHealth::hangs(std::int64_t alive_ms) const {
  const std::chrono::steady_clock::time_point alive{std::chrono::milliseconds(alive_ms)};
  return clock_.steady() - alive > kLongestSilence;
}

std::vector<std::string> GatewayHealth::problems() const {
  std::vector<std::string> found;
  if (!connected_) found.emplace_back("the broker is away");
  const std::string store = counters_.store_report.text();
  if (!store.empty()) {
    found.push_back(store);
  } else if (counters_.store_failing) {
    found.emplace_back("the store cannot be written");
  }
  if (judging_hangs()) found.emplace_back("the judging thread hangs");
  if (hangs(bus_alive_ms_)) found.emplace_back("the thread of the broker's messages hangs");
  return found;
}

}  // namespace aflguard::gateway
