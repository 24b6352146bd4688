#include "gateway_server/refusal_ledger.h"

#include <utility>

namespace aflguard {
namespace {

constexpr std::chrono::seconds kQuietTime(10);
constexpr std::size_t kMaxSenders = 10'000;
constexpr std::size_t kMaxLines = 50;
constexpr std::size_t kMaxLinesInQuietTime = 100;

}  // namespace

void RefusalLedger::note(std::string_view sender, const Refusal& refusal, Time now) {
  const std::lock_guard lock(mutex_);
  ++counts_[refusal.reason];
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
  std::string line = "refused (" + std::string(to_string(refusal.reason)) + ") from '" + std::string(sender) +
                     "': " + refusal.message;
  if (quiet.held_back > 0) line += " (and " + std::to_string(quiet.held_back) + " more like it)";
  quiet = {now + kQuietTime, 0};
  log_.warning(line);
  if (lines_.size() < kMaxLines) lines_.push_back(std::move(line));
}

bool RefusalLedger::may_speak(Time now) {
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

std::map<std::string, std::uint64_t> RefusalLedger::counts() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::uint64_t> named;
  for (const auto& [reason, count] : counts_) named.emplace(to_string(reason), count);
  return named;
}

std::uint64_t RefusalLedger::total() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& [reason, count] : counts_) sum += count;
  return sum;
}

std::vector<std::string> RefusalLedger::take_lines() {
  const std::lock_guard lock(mutex_);
  return std::exchange(lines_, {});
}

}  // namespace aflguard
