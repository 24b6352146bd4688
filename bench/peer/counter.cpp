#include "bench/peer/counter.h"

#include "core/transport/topics.h"

namespace aflguard::bench {
namespace {

constexpr std::chrono::seconds kCountTimeout(60);

}  // namespace

Result<Counter> Counter::create(const Identity& identity, LogSink& log) {
  TRY(const FleetTopics topics, FleetTopics::create(identity.fleet));
  TRY(auto bus, connect(identity, topics.all_updates(), log));
  return Counter(std::move(bus));
}

Result<Moments> Counter::count(std::size_t updates, std::size_t bytes_each) {
  Moments moments;
  std::size_t bytes = 0;
  while (moments.size() < updates) {
    auto event = bus_->next_event(std::chrono::steady_clock::now() + kCountTimeout);
    if (!event) return unavailable("nothing came for a minute");
    if (const auto* lost = std::get_if<BusDisconnected>(&*event)) return unavailable(lost->reason);
    const auto* received = std::get_if<BusReceived>(&*event);
    if (received == nullptr) continue;
    bytes += received->message.payload.size();
    while (bytes >= bytes_each && moments.size() < updates) {
      bytes -= bytes_each;
      moments.push_back(std::chrono::steady_clock::now());
    }
  }
  return moments;
}

}  // namespace aflguard::bench
