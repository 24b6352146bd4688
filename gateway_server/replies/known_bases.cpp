#include "gateway_server/replies/known_bases.h"

namespace aflguard::gateway {

void KnownBases::note(const std::string& device, std::uint64_t sequence, std::uint64_t version) {
  const std::lock_guard lock(mutex_);
  if (bases_.size() >= most_ && !bases_.contains(device)) bases_.clear();  // never answered, most of them
  bases_[device] = {sequence, version};
}

std::optional<std::uint64_t> KnownBases::take(const std::string& device, std::uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  const auto found = bases_.find(device);
  if (found == bases_.end() || found->second.sequence != sequence) return std::nullopt;
  const std::uint64_t version = found->second.version;
  bases_.erase(found);
  return version;
}

}  // namespace aflguard::gateway
