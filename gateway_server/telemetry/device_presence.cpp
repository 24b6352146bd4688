#include "gateway_server/telemetry/device_presence.h"

#include <utility>

#include "core/telemetry/device_status.h"

namespace aflguard::gateway {
namespace {

std::string_view event_kind(DeviceState before, DeviceState now) {
  if (now == DeviceState::kLost) return is_connected(before) ? "lost" : "";
  if (now == DeviceState::kDisconnected) return is_connected(before) ? "left" : "";
  if (now == DeviceState::kAlert) return "alert";
  if (before == DeviceState::kUnknown) return "joined";
  return is_connected(before) ? "" : "returned";
}

}  // namespace

DevicePresence::Taken DevicePresence::take(std::string_view device, std::span<const std::byte> payload,
                                           bool retained) {
  auto status = read_reported_state({reinterpret_cast<const char*>(payload.data()), payload.size()});
  if (!status) return {};
  const DeviceState now = status->state;
  Taken taken{std::nullopt, status->wants_offer && is_connected(now)};

  auto found = states_.find(device);
  const bool known = found != states_.end();
  if (!known) {
    found = states_.emplace(std::string(device), DeviceState::kUnknown).first;
    ++counts_[0];
  }
  const DeviceState before = std::exchange(found->second, now);
  if (before == now) return taken;
  --counts_[static_cast<std::size_t>(before)];
  ++counts_[static_cast<std::size_t>(now)];
  connected_ += is_connected(now) ? 1 : 0;
  connected_ -= is_connected(before) ? 1 : 0;
  Change change;
  change.state = now;
  if (known || !retained) change.kind = event_kind(before, now);
  if (change.kind == "alert") change.message = std::move(status->message);
  taken.change = std::move(change);
  return taken;
}

DeviceState DevicePresence::state(std::string_view device) const {
  const auto found = states_.find(device);
  return found == states_.end() ? DeviceState::kUnknown : found->second;
}

void DevicePresence::forget(std::string_view device) {
  const auto found = states_.find(device);
  if (found == states_.end()) return;
  connected_ -= is_connected(found->second) ? 1 : 0;
  --counts_[static_cast<std::size_t>(found->second)];
  states_.erase(found);
}

void DevicePresence::forget_unless(const std::function<bool(std::string_view)>& keep) {
  for (auto entry = states_.begin(); entry != states_.end();) {
    if (keep(entry->first)) {
      ++entry;
      continue;
    }
    connected_ -= is_connected(entry->second) ? 1 : 0;
    --counts_[static_cast<std::size_t>(entry->second)];
    entry = states_.erase(entry);
  }
}

}  // namespace aflguard::gateway
