#include "bench/links/delay_line.h"

#include <algorithm>

namespace aflguard::bench {

void DelayLine::push(Bytes packet, Time now) {
  if (packets_.size() >= max_packets_) {
    ++lost_;
    return;
  }
  const double seconds = static_cast<double>(packet.size()) * 8 / bits_per_second_;
  free_at_ =
      std::max(free_at_, now) + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  packets_.emplace_back(free_at_ + delay_, std::move(packet));
}

std::optional<DelayLine::Time> DelayLine::next_arrival() const {
  if (packets_.empty()) return std::nullopt;
  return packets_.front().first;
}

std::optional<Bytes> DelayLine::pop(Time now) {
  if (packets_.empty() || packets_.front().first > now) return std::nullopt;
  Bytes packet = std::move(packets_.front().second);
  packets_.pop_front();
  return packet;
}

}  // namespace aflguard::bench
