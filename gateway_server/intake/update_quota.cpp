#include "gateway_server/intake/update_quota.h"

namespace aflguard::gateway {

UpdateQuota::Place UpdateQuota::take(const std::string& device, std::size_t bytes) {
  {
    const std::lock_guard lock(room_->mutex);
    std::size_t& taken = room_->taken[device];
    if (taken >= room_->per_device) return nullptr;
    ++taken;
    ++room_->updates;
    room_->bytes += bytes;
  }
  // Something that is not null and without an owner; what matters is when it goes.
  return {room_.get(), [room = room_, device, bytes](const void*) {
            const std::lock_guard lock(room->mutex);
            --room->updates;
            room->bytes -= bytes;
            const auto found = room->taken.find(device);
            if (--found->second == 0) room->taken.erase(found);
          }};
}

}  // namespace aflguard::gateway
