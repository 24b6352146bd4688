#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace aflguard::gateway {

/// Devices that found no room, and when each may come back: one after the other, at the pace at which the
/// gateway is served, so that a crowd does not return at once. A device keeps its time however often it asks.
/// A state machine without a clock; one thread.
class WaitingLine final {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::milliseconds;

  static constexpr Duration kShortest{200};
  static constexpr Duration kLongest{300'000};

  /// How many updates have been served so far, counted anywhere: call it often, it measures the pace.
  void measure(std::uint64_t served, Time now);
  /// Updates per second; a guess until something was measured.
  [[nodiscard]] double pace() const { return pace_; }

  /// How long this device shall wait. `inside`: updates that are in the gateway already.
  [[nodiscard]] Duration put(std::string_view device, std::size_t inside, Time now);
  /// Its time has come; those who come by now go before all that have no time.
  [[nodiscard]] bool is_due(std::string_view device, Time now) const;
  /// It was let in.
  void leave(std::string_view device);
  /// Devices that are expected.
  [[nodiscard]] std::size_t size(Time now);

 private:
  void forget_late(Time now);

  double pace_ = 20;
  bool measured_ = false;
  std::uint64_t served_ = 0;
  Time measured_at_{};
  Time last_slot_{};
  /// By the hash of the device's name: two that share one share a place, which costs neither anything.
  std::unordered_map<std::uint64_t, Time> expected_;
  std::deque<std::pair<Time, std::uint64_t>> order_;
};

}  // namespace aflguard::gateway
