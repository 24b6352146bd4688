#include "gateway_server/intake/refusal_log.h"

#include <utility>

namespace aflguard::gateway {
namespace {

constexpr std::chrono::seconds kQuietTime(10);
constexpr std::size_t kMaxSenders = 10'000;
constexpr std::size_t kMaxLines = 50;
constexpr std::size_t kMaxLinesInQuietTime = 100;

}  // namespace

void RefusalLog::note(std::string_view sender, const Refusal& refusal, Time now, std::uint64_t messages) {
  const std::lock_guard lock(mutex_);
  counts_[refusal.reason] += messages;
  if (by_sender_.size() < kMaxSenders || by_sender_.contains(sender)) {
    by_sender_.try_emplace(std::string(sender), 0).first->second += messages;
    if (!fresh_.contains(sender)) fresh_.emplace(sender);
  }
  if (quiet_.size() >= kMaxSenders) quiet_.clear();
  Quiet& quiet = quiet_[{std::string(sender), refusal.reason}];
  if (now < quiet.until) {
    ++quiet.held_back;
    return;
  }
  if (!may_speak(now)) {
    ++everybody_.held_back;
    return;
  }
  const std::string reason(to_string(refusal.reason));
  std::string what = refusal.message;
  if (quiet.held_back > 0) what += " (and " + std::to_string(quiet.held_back) + " more like it)";
  quiet = {now + kQuietTime, 0};
  log_.warning("refused (" + reason + ") from '" + std::string(sender) + "': " + what);
  if (lines_.size() < kMaxLines) lines_.push_back({std::string(sender), reason + ": " + what});
}

bool RefusalLog::may_speak(Time now) {
  if (now >= everybody_.until) {
    if (everybody_.held_back > 0) {
      log_.warning("refused " + std::to_string(everybody_.held_back) +
                   " more messages of other senders; the metrics have all by reason");
    }
    everybody_ = {now + kQuietTime, 0};
    spoken_ = 0;
  }
  return ++spoken_ <= kMaxLinesInQuietTime;
}

std::map<std::string, std::uint64_t> RefusalLog::counts() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::uint64_t> named;
  for (const auto& [reason, count] : counts_) named.emplace(to_string(reason), count);
  return named;
}

std::uint64_t RefusalLog::total() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& [reason, count] : counts_) sum += count;
  return sum;
}

std::vector<RefusalLog::Line> RefusalLog::take_lines() {
  const std::lock_guard lock(mutex_);
  return std::exchange(lines_, {});
}

std::vector<std::pair<std::string, std::uint64_t>> RefusalLog::take_senders() {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, std::uint64_t>> senders;
  for (const std::string& sender : std::exchange(fresh_, {}))
    senders.emplace_back(sender, by_sender_[sender]);
  return senders;
}

}  // namespace aflguard::gateway
