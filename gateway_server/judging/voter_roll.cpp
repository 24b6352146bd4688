#include "gateway_server/judging/voter_roll.h"

namespace aflguard::gateway {

VoterRoll::VoterRoll(VoterRules rules, const Devices& devices) : rules_(std::move(rules)) {
  if (rules_.silence.count() <= 0) return;
  for (const auto& [name, device] : devices) heard_.emplace(device.last_seen_ms, device.id);
}

bool VoterRoll::counts(const DeviceRecord& device) const {
  return !rules_.is_enrolled || rules_.is_enrolled(device.name);
}

std::vector<ClientId> VoterRoll::take_departed(const Devices& devices) {
  std::vector<ClientId> taken;
  for (const auto& [name, device] : devices) {
    if (counts(device)) {
      departed_.erase(device.id);
    } else if (departed_.insert(device.id).second) {
      heard_.erase({device.last_seen_ms, device.id});
      taken.push_back(device.id);
    }
  }
  return taken;
}

std::vector<ClientId> VoterRoll::take_silent(std::int64_t now_ms) {
  std::vector<ClientId> taken;
  if (rules_.silence.count() <= 0) return taken;
  const std::int64_t oldest = now_ms - rules_.silence.count();
  while (!heard_.empty() && heard_.begin()->first < oldest) {
    taken.push_back(heard_.begin()->second);
    heard_.erase(heard_.begin());
  }
  return taken;
}

bool VoterRoll::note_vote(const DeviceRecord& device, std::int64_t seen_before_ms) {
  heard_.erase({seen_before_ms, device.id});
  if (!counts(device)) {
    departed_.insert(device.id);
    return false;
  }
  if (rules_.silence.count() > 0) heard_.emplace(device.last_seen_ms, device.id);
  return true;
}

}  // namespace aflguard::gateway
