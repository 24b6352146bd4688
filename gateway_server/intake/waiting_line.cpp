#include "gateway_server/intake/waiting_line.h"

#include <algorithm>

#include "core/identity/name_hash.h"

namespace aflguard::gateway {
namespace {

using std::chrono::duration;
using std::chrono::duration_cast;

constexpr std::chrono::milliseconds kBetweenMeasurements(250);
constexpr double kWeight = 0.3;  // of the latest measurement
constexpr double kSlowest = 1;
/// A little faster than what was measured: a gateway that waits for its devices measures itself too slow.
constexpr double kHaste = 1.25;
constexpr std::size_t kMostExpected = 200'000;
/// A device that comes later than this after its time has no time any more.
constexpr std::chrono::seconds kLate(30);

WaitingLine::Time::duration seconds(double count) {
  return duration_cast<WaitingLine::Time::duration>(duration<double>(count));
}

}  // namespace

void WaitingLine::measure(std::uint64_t served, Time now) {
  const auto passed = now - measured_at_;
  if (measured_at_ != Time{} && passed < kBetweenMeasurements) return;
  // A pause says nothing about how fast the gateway is when it has work.
  if (measured_at_ != Time{} && passed < 4 * kBetweenMeasurements && served > served_) {
    const double pace = static_cast<double>(served - served_) / duration<double>(passed).count();
    pace_ = measured_ ? pace_ + kWeight * (pace - pace_) : pace;
    pace_ = std::max(pace_, kSlowest);
    measured_ = true;
  }
  served_ = served;
  measured_at_ = now;
}

WaitingLine::Duration WaitingLine::put(std::string_view device, std::size_t inside, Time now) {
  forget_late(now);
  const std::uint64_t name = name_hash(device);
  const auto known = expected_.find(name);
  if (known != expected_.end() && known->second > now + kShortest) {
    return duration_cast<Duration>(known->second - now);
  }
  // Half of what is inside has gone by then: newcomers find room, and the gateway still has work.
  const Time soonest =
      now + std::max<Time::duration>(kShortest, seconds(static_cast<double>(inside) / (2 * pace_)));
  const Time slot = std::max(soonest, last_slot_ + seconds(1 / (kHaste * pace_)));
  if (slot > now + kLongest || order_.size() >= kMostExpected) {
    const double share = 0.5 + 0.5 * name_fraction(device);  // spread over the later half
    return duration_cast<Duration>(share * duration<double>(kLongest));
  }
  last_slot_ = slot;
  expected_[name] = slot;
  order_.emplace_back(slot, name);
  return duration_cast<Duration>(slot - now);
}

bool WaitingLine::is_due(std::string_view device, Time now) const {
  const auto known = expected_.find(name_hash(device));
  // A device may be a little early: it counts from when it read the answer, and its clock is not ours.
  return known != expected_.end() && now + kShortest >= known->second;
}

void WaitingLine::leave(std::string_view device) {
  expected_.erase(name_hash(device));
}

std::size_t WaitingLine::size(Time now) {
  forget_late(now);
  return expected_.size();
}

void WaitingLine::forget_late(Time now) {
  while (!order_.empty() && order_.front().first + kLate < now) {
    const auto [slot, name] = order_.front();
    order_.pop_front();
    const auto known = expected_.find(name);
    if (known != expected_.end() && known->second == slot) expected_.erase(known);
  }
}

}  // namespace aflguard::gateway
