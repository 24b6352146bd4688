#pragma once

#include <map>
#include <mutex>
#include <string>

namespace aflguard::gateway {

/// What is wrong with the store, for people: from the judging to telemetry. Safe from several threads.
class StoreReport final {
 public:
  /// Nothing can be stored any more, for good.
  void set_damaged(std::string text) {
    const std::lock_guard lock(mutex_);
    damaged_ = std::move(text);
  }
  /// What cannot be read for one device; an empty text: it can be read again.
  void set_unreadable(const std::string& device, std::string text) {
    const std::lock_guard lock(mutex_);
    if (text.empty()) {
      unreadable_.erase(device);
    } else {
      unreadable_[device] = std::move(text);
    }
  }
  /// Empty: nothing is wrong.
  [[nodiscard]] std::string text() const {
    const std::lock_guard lock(mutex_);
    if (!damaged_.empty() || unreadable_.empty()) return damaged_;
    const std::size_t others = unreadable_.size() - 1;
    return unreadable_.begin()->second +
           (others == 0 ? "" : "; and of " + std::to_string(others) + " other devices");
  }

 private:
  mutable std::mutex mutex_;
  std::string damaged_;
  std::map<std::string, std::string> unreadable_;  ///< by device
};

}  // namespace aflguard::gateway
