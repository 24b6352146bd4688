#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "core/base/bytes.h"

namespace aflguard::bench {

/// One direction of a link that has a rate and a delay: packets leave one after the other, and each arrives a
/// fixed time later. What does not fit into its queue is lost. A state machine: no I/O, no thread, no clock.
class DelayLine final {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  DelayLine(double bits_per_second, Duration delay, std::size_t max_packets)
      : bits_per_second_(bits_per_second), delay_(delay), max_packets_(max_packets) {}

  void push(Bytes packet, Time now);
  /// When the next packet arrives; none while the line is empty.
  [[nodiscard]] std::optional<Time> next_arrival() const;
  /// The next packet, if it has arrived by now.
  [[nodiscard]] std::optional<Bytes> pop(Time now);
  [[nodiscard]] std::size_t lost() const { return lost_; }

 private:
  double bits_per_second_;
  Duration delay_;
  std::size_t max_packets_;
  std::deque<std::pair<Time, Bytes>> packets_;
  Time free_at_{};  ///< when the packet before has left
  std::size_t lost_ = 0;
};

}  // namespace aflguard::bench
