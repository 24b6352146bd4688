#pragma once

#include <atomic>
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

  /// Null when the device has all its places already. From any thread, as all below.
  [[nodiscard]] Place take(const std::string& device, std::size_t bytes = 0);
  /// Places that are taken stay taken.
  void set_limit(std::size_t per_device) { room_->per_device = per_device; }
  /// Places that are taken, and the bytes that they were taken for.
  [[nodiscard]] std::size_t updates() const { return room_->updates; }
  [[nodiscard]] std::size_t bytes() const { return room_->bytes; }

 private:
  struct Room {
    explicit Room(std::size_t limit) : per_device(limit) {}
    std::atomic<std::size_t> per_device;
    std::mutex mutex;
    std::map<std::string, std::size_t> taken;  ///< devices with at least one
    std::atomic<std::size_t> updates{0};
    std::atomic<std::size_t> bytes{0};
  };
  std::shared_ptr<Room> room_;
};

}  // namespace aflguard::gateway
