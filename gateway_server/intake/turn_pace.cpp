#include "gateway_server/intake/turn_pace.h"

#include <algorithm>

#include "core/envelope/messages.h"
#include "core/identity/name_hash.h"

namespace aflguard::gateway {
namespace {

using std::chrono::duration;
using std::chrono::duration_cast;

constexpr std::chrono::hours kDay(24);
/// Longer pauses of the fleet's pace are spread over the later half of this one: turns far ahead are guesses.
constexpr std::chrono::hours kLongestTurn(1);
/// Not worth a word: the way of an update takes as long.
constexpr std::chrono::milliseconds kShortestPause(100);
/// A device counts from when it read the answer, by its own clock.
constexpr std::chrono::seconds kTolerance(1);
constexpr double kToleratedShare = 0.1;
/// The answer that leaves now is not counted yet, and turns differ.
constexpr double kMargin = 1.25;
constexpr std::size_t kMostRemembered = 4'000'000;

template <typename Duration>
TurnPace::Pause milliseconds(Duration span) {
  return std::clamp(duration_cast<TurnPace::Pause>(span), TurnPace::Pause::zero(), kLongestPause);
}

/// Removes what its time has passed of, and what is more than may be remembered.
template <typename Remembered, typename Ended>
void forget(Remembered& remembered, TurnPace::Time now, Ended ended) {
  auto& order = remembered.forget_at;
  while (!order.empty() && (order.front().first <= now || order.size() > kMostRemembered)) {
    const auto found = remembered.of.find(order.front().second);
    if (found != remembered.of.end() && ended(found->second, order.front().first)) remembered.of.erase(found);
    order.pop_front();
  }
}

}  // namespace

void TurnPace::count(std::string_view device, std::size_t bytes, std::size_t turns, Time now) {
  if (limits_.device_bytes_per_day == 0) return;
  const std::lock_guard lock(mutex_);
  forget_old(now);
  const std::uint64_t name = name_hash(device);
  Day& day = days_.of[name];
  if (day.begun == Time{} || day.begun + kDay <= now) {
    day = {now, 0, 0};
    days_.forget_at.emplace_back(now + kDay, name);
  }
  day.bytes += bytes;
  day.turns += turns;
}

TurnPace::Pause TurnPace::next_turn(std::string_view device, Time now) {
  const std::lock_guard lock(mutex_);
  forget_old(now);
  const std::uint64_t name = name_hash(device);
  // A verdict that is sent again: the turn stays.
  if (const auto told = told_.of.find(name);
      told != told_.of.end() && told->second.until > now + kShortestPause) {
    return milliseconds(told->second.until - now);
  }
  const Pause pause = std::max(for_the_fleet(device, now), for_the_day(device, now));
  if (pause < kShortestPause) return Pause::zero();
  told_.of[name] = {now + pause, pause};
  told_.forget_at.emplace_back(now + pause, name);
  return pause;
}

/// One turn after the other, at the fleet's pace: with k devices each has every k-th, however many they are.
TurnPace::Pause TurnPace::for_the_fleet(std::string_view device, Time now) {
  if (limits_.updates_per_second <= 0) return Pause::zero();
  const Time turn = std::max(
      now, last_turn_ + duration_cast<Time::duration>(duration<double>(1 / limits_.updates_per_second)));
  if (turn > now + kLongestTurn) {
    return milliseconds((0.5 + 0.5 * name_fraction(device)) * duration<double>(kLongestTurn));
  }
  last_turn_ = turn;
  return milliseconds(turn - now);
}

/// So long that what is left of the day's bytes lasts for what is left of the day.
TurnPace::Pause TurnPace::for_the_day(std::string_view device, Time now) const {
  if (limits_.device_bytes_per_day == 0) return Pause::zero();
  const auto known = days_.of.find(name_hash(device));
  if (known == days_.of.end()) return Pause::zero();
  const Day& day = known->second;
  const auto left = day.begun + kDay - now;
  const double a_turn =
      static_cast<double>(day.bytes) / static_cast<double>(std::max<std::uint64_t>(1, day.turns));
  const double unused = static_cast<double>(limits_.device_bytes_per_day) - static_cast<double>(day.bytes);
  if (unused < kMargin * a_turn) return milliseconds(left);
  return milliseconds(duration<double>(left) * (a_turn / unused));
}

std::optional<TurnPace::Early> TurnPace::early(std::string_view device, Time now) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t name = name_hash(device);
  const auto day = days_.of.find(name);
  if (day != days_.of.end() && day->second.bytes >= limits_.device_bytes_per_day &&
      day->second.begun + kDay > now) {
    return Early{milliseconds(day->second.begun + kDay - now), "its bytes of this day are used up"};
  }
  const auto told = told_.of.find(name);
  if (told == told_.of.end()) return std::nullopt;
  const auto tolerance = std::max<duration<double>>(kTolerance, kToleratedShare * told->second.pause);
  if (now + tolerance >= told->second.until) return std::nullopt;
  return Early{milliseconds(told->second.until - now), "it was told to come later"};
}

void TurnPace::forget_old(Time now) {
  forget(days_, now, [](const Day& day, Time end) { return day.begun + kDay <= end; });
  forget(told_, now, [](const Told& told, Time end) { return told.until <= end; });
}

}  // namespace aflguard::gateway
