#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace aflguard::gateway {

struct TurnLimits {
  double updates_per_second = 0;           ///< of the whole fleet; 0: as many as come
  std::uint64_t device_bytes_per_day = 0;  ///< up and down, of one device; 0: as many as come
};

/// When each device should send its next update: a fleet that is larger than the gateway needs takes turns,
/// and a device spreads its bytes over its day. A state machine; safe from several threads.
///
/// A device is told with its verdict. What it was told is remembered until then, and one that comes much
/// earlier anyway is refused. A device that cannot be told (format 1) keeps its own pace, and is refused only
/// when its bytes of the day are used up. What is remembered of a device is at most 100 bytes, until its
/// pause or its day has ended.
class TurnPace final {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Pause = std::chrono::milliseconds;

  explicit TurnPace(const TurnLimits& limits) : limits_(limits) {}

  /// Bytes of verified updates and of answers. `turns`: updates among them.
  void count(std::string_view device, std::size_t bytes, std::size_t turns, Time now);
  /// What this device's verdict says; 0: nothing. Takes its turn.
  [[nodiscard]] Pause next_turn(std::string_view device, Time now);
  /// How long this device should still stay away, and why; none: an update of it may come in.
  struct Early {
    Pause left{0};
    std::string why;
  };
  [[nodiscard]] std::optional<Early> early(std::string_view device, Time now);

 private:
  struct Day {
    Time begun{};
    std::uint64_t bytes = 0;
    std::uint64_t turns = 0;
  };
  struct Told {
    Time until{};
    Pause pause{0};
  };
  template <typename Value>
  struct Remembered {
    std::unordered_map<std::uint64_t, Value> of;           ///< by the name's hash
    std::deque<std::pair<Time, std::uint64_t>> forget_at;  ///< about in order
  };

  void forget_old(Time now);
  [[nodiscard]] Pause for_the_fleet(std::string_view device, Time now);
  [[nodiscard]] Pause for_the_day(std::string_view device, Time now) const;

  const TurnLimits limits_;
  std::mutex mutex_;
  Remembered<Day> days_;
  Remembered<Told> told_;
  Time last_turn_{};
};

}  // namespace aflguard::gateway
