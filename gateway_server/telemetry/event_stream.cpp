#include "gateway_server/telemetry/event_stream.h"

#include "core/telemetry/fleet_event.h"

namespace aflguard::gateway {

void EventStream::tell(std::string_view kind, std::string_view device, std::string_view text) {
  // One place in each second is kept for the number of those that are left out.
  if (!send(kind, device, text, kPerSecond - 1)) ++muted_;
}

void EventStream::tell_muted() {
  const auto now = clock_.steady();
  // Once a second at most: otherwise these would take the places of what they count.
  if (muted_ == 0 || (muted_at_ && now - *muted_at_ < std::chrono::seconds(1))) return;
  if (!send("muted", "", std::to_string(muted_) + " events were left out", kPerSecond)) return;
  muted_ = 0;
  muted_at_ = now;
}

bool EventStream::send(std::string_view kind, std::string_view device, std::string_view text,
                       std::size_t most) {
  const auto now = clock_.steady();
  while (!sent_.empty() && now - sent_.front() >= std::chrono::seconds(1)) sent_.pop_front();
  if (sent_.size() >= most) return false;
  const FleetEvent event{clock_.wall(), std::string(kind), std::string(device), std::string(text)};
  if (!publish_(to_json(event))) return false;
  sent_.push_back(now);
  return true;
}

}  // namespace aflguard::gateway
