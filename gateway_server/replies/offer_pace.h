#pragma once

#include <chrono>
#include <string>
#include <unordered_set>

namespace aflguard::gateway {

/// How often a device that asks for an offer gets one: once in a while, whatever it asks. Remembers only who
/// has asked of late. One thread.
class OfferPace final {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// A device is answered again after one to two of these.
  explicit OfferPace(std::chrono::steady_clock::duration interval) : interval_(interval) {}

  /// True when `device` gets an offer now.
  [[nodiscard]] bool due(const std::string& device, Time now);

 private:
  std::chrono::steady_clock::duration interval_;
  Time begun_{};
  std::unordered_set<std::string> newer_;  ///< answered since `begun_`
  std::unordered_set<std::string> older_;  ///< answered in the interval before
};

}  // namespace aflguard::gateway
