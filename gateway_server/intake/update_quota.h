#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace aflguard::gateway {

/// The places that each device has among the updates that wait for verification and judgement. An honest
/// device has one update on its way, perhaps twice; one that sends more fills only its own places.
class UpdateQuota final {
 public:
  /// Given back when the last copy is gone.
  using Place = std::shared_ptr<const void>;

  explicit UpdateQuota(std::size_t per_device) : room_(std::make_shared<Room>(per_device)) {}

  /// Null when the device has all its places already. From any thread.
  [[nodiscard]] Place take(const std::string& device);

 private:
  struct Room {
    explicit Room(std::size_t limit) : per_device(limit) {}
    const std::size_t per_device;
    std::mutex mutex;
    std::map<std::string, std::size_t> taken;  ///< devices with at least one
  };
  std::shared_ptr<Room> room_;
};

}  // namespace aflguard::gateway
