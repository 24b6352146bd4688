#include "gateway_server/judging/voter_roll.h"

namespace aflguard::gateway {

VoterRoll::VoterRoll(VoterRules rules, const Devices& devices) : rules_(std::move(rules)) {
  if (rules_.silence.count() <= 0) return;
  for (const auto& [name, device] : devices) heard_.emplace(device.last_seen_ms, device.id);
}

bool VoterRoll::counts(const DeviceRecord& device) const {
  return !rules_.is_enrolled || rules_.is_enrolled(device.name);
}

std::vector<ClientId> VoterRoll::take_departed(const Devices& devices, const BookNews& news) {
  std::vector<ClientId> taken;
  for (const BookChange& change : news.devices) {
    const auto device = devices.find(change.device);
    if (device != devices.end()) note(device->second, !change.revoked, taken);
  }
  if (!news.everything || !(rules_.is_enrolled || rules_.enrolled_names)) return taken;
  const LiveRegistry::Names names = rules_.enrolled_names ? rules_.enrolled_names() : LiveRegistry::Names();
  for (const auto& [name, device] : devices) {
    note(device, rules_.enrolled_names ? names.contains(name) : counts(device), taken);
  }
  return taken;
}

void VoterRoll::note(const DeviceRecord& device, bool enrolled, std::vector<ClientId>& departed) {
  if (enrolled) {
    departed_.erase(device.id);
  } else if (departed_.insert(device.id).second) {
    heard_.erase({device.last_seen_ms, device.id});
    departed.push_back(device.id);
  }
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
