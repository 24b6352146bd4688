#include "gateway_server/telemetry/device_summaries.h"

#include <algorithm>
#include <cmath>

namespace aflguard::gateway {
namespace {

constexpr double kWeight = 1.0 / 16;  // of the newest in a running mean
constexpr std::size_t kFewestForTrend = 4;
constexpr int kMostSkipped = 1000;  // at a time

/// The mean of the first few, a running mean afterwards.
void average_in(double& mean, std::uint64_t& count, double value) {
  ++count;
  mean += (value - mean) * std::max(kWeight, 1 / static_cast<double>(count));
}

/// How near to the guard's limit; none where there is no such limit.
std::optional<double> ratio_of(double distance, double bound) {
  if (!std::isfinite(distance) || !std::isfinite(bound) || bound <= 0) return std::nullopt;
  return distance / bound;
}

LastVerdict last_verdict(const JudgedUpdate& last) {
  return {.accepted = last.verdict.accepted,
          .reason = std::string(to_string(last.verdict.reason)),
          .delay = last.verdict.delay,
          .distance = last.verdict.distance,
          .bound = last.verdict.bound,
          .version = last.version,
          .altered = last.verdict.altered};
}

}  // namespace

void DeviceSummaries::add(const std::string& device, std::uint64_t accepted, std::uint64_t rejected,
                          std::int64_t last_seen_ms) {
  // In the order of names, where the caller has many.
  Entry& entry = entries_.try_emplace(entries_.end(), device)->second;
  entry.accepted = accepted;
  entry.rejected = rejected;
  entry.last_seen_ms = last_seen_ms;
}

void DeviceSummaries::judged(const JudgedUpdate& update, Time now) {
  Entry& entry = entries_[update.device];
  const Verdict& verdict = update.verdict;
  entry.accepted = update.accepted;
  entry.rejected = update.rejected;
  entry.last_seen_ms = update.time_ms;
  if (!entry.verdicts) entry.verdicts = std::make_unique<Verdicts>();
  Verdicts& verdicts = *entry.verdicts;
  verdicts.last = update;
  verdicts.recent.push_back(
      {from_milliseconds(update.time_ms), verdict.distance, verdict.bound, verdict.accepted});
  if (verdicts.recent.size() > kMaxRecentVerdicts) verdicts.recent.pop_front();
  average_in(verdicts.rejected_share, verdicts.count, verdict.accepted ? 0 : 1);
  judge_sender(entry);
  if (const auto ratio = ratio_of(verdict.distance, verdict.bound)) {
    average_in(verdicts.ratio, verdicts.ratios, *ratio);
  }
  make_due(update.device, entry, now);
}

bool DeviceSummaries::is_suspicious(std::string_view device) const {
  const auto known = entries_.find(device);
  return known != entries_.end() && known->second.suspicious;
}

void DeviceSummaries::judge_sender(Entry& entry) {
  const bool suspicious = entry.verdicts && entry.verdicts->count >= kFewestVerdicts &&
                          entry.verdicts->rejected_share >= kSuspiciousShare;
  if (suspicious && !entry.suspicious) ++suspicious_;
  if (!suspicious && entry.suspicious) --suspicious_;
  entry.suspicious = suspicious;
}

void DeviceSummaries::refused(const std::string& device, std::uint64_t count, Time now) {
  Entry& entry = entries_[device];
  entry.refused = count;
  make_due(device, entry, now);
}

void DeviceSummaries::state_changed(const std::string& device, DeviceState state, Time now) {
  Entry& entry = entries_[device];
  entry.state = state;
  make_due(device, entry, now);
}

bool DeviceSummaries::forget(std::string_view device) {
  const auto entry = entries_.find(device);
  if (entry == entries_.end()) return false;
  if (entry->second.suspicious) --suspicious_;
  if (entry->second.due) queue_.erase({*entry->second.due, entry->first});
  entries_.erase(entry);
  return true;
}

std::vector<std::string> DeviceSummaries::forget_unless(const std::function<bool(std::string_view)>& keep) {
  std::vector<std::string> gone;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (keep(entry->first)) {
      ++entry;
      continue;
    }
    if (entry->second.suspicious) --suspicious_;
    if (entry->second.due) queue_.erase({*entry->second.due, entry->first});
    gone.push_back(entry->first);
    entry = entries_.erase(entry);
  }
  return gone;
}

/// Costs the same for any number of devices: next() finds them one after the other.
void DeviceSummaries::all_due(Time now) {
  again_.emplace();
  again_since_ = now;
}

void DeviceSummaries::make_due(const std::string& device, Entry& entry, Time now) {
  if (entry.due) return;
  entry.due = entry.told == Time{} ? now : std::max(now, entry.told + kBetween);
  queue_.emplace(*entry.due, device);
}

std::optional<DeviceSummaries::Due> DeviceSummaries::next(Time now, WallTime wall) {
  const bool changed = !queue_.empty() && queue_.begin()->first <= now;
  if ((!changed && !again_) || !budget_.take(now)) return std::nullopt;
  if (again_ && (!changed || !again_last_)) {
    again_last_ = true;
    if (const auto device = next_again()) return tell(*device, entries_.find(*device)->second, now, wall);
  }
  again_last_ = false;
  if (!changed) return std::nullopt;
  const auto node = queue_.extract(queue_.begin());
  Entry& entry = entries_.find(node.value().second)->second;
  entry.due.reset();
  return tell(node.value().second, entry, now, wall);
}

DeviceSummaries::Due DeviceSummaries::tell(const std::string& device, Entry& entry, Time now, WallTime wall) {
  entry.told = now;
  return Due{device, to_json(summary(device, entry, wall))};
}

/// The next that has not been told again, and will not be for another reason. None for now when that takes
/// long to find.
std::optional<std::string> DeviceSummaries::next_again() {
  auto entry = entries_.lower_bound(*again_);
  for (int skipped = 0; entry != entries_.end() && skipped < kMostSkipped; ++entry, ++skipped) {
    const Time told = entry->second.told;
    if (entry->second.due || (told != Time{} && told >= again_since_)) continue;
    again_ = entry->first + '\0';
    return entry->first;
  }
  if (entry == entries_.end()) {
    again_.reset();
  } else {
    again_ = entry->first;
  }
  return std::nullopt;
}

/// The slope of distance / bound over the latest verdicts, by least squares.
std::optional<double> DeviceSummaries::trend(const Verdicts& verdicts) {
  std::vector<double> ratios;
  for (const JudgedDistance& recent : verdicts.recent) {
    if (const auto ratio = ratio_of(*recent.distance, *recent.bound)) ratios.push_back(*ratio);
  }
  if (ratios.size() < kFewestForTrend) return std::nullopt;
  const double middle = static_cast<double>(ratios.size() - 1) / 2;
  double along = 0;
  double square = 0;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    const double x = static_cast<double>(i) - middle;
    along += x * ratios[i];
    square += x * x;
  }
  return along / square;
}

DeviceSummary DeviceSummaries::summary(const std::string& device, const Entry& entry, WallTime wall) {
  DeviceSummary summary;
  summary.device = device;
  summary.time = wall;
  summary.state = entry.state;
  summary.accepted = entry.accepted;
  summary.rejected = entry.rejected;
  summary.refused = entry.refused;
  if (entry.verdicts) {
    const Verdicts& verdicts = *entry.verdicts;
    if (verdicts.count >= kFewestVerdicts) summary.recent_rejected_share = verdicts.rejected_share;
    summary.last = last_verdict(*verdicts.last);
    summary.recent.assign(verdicts.recent.begin(), verdicts.recent.end());
    if (verdicts.ratios > 0) summary.distance_ratio = verdicts.ratio;
    summary.distance_trend = trend(verdicts);
  }
  if (entry.last_seen_ms > 0) summary.last_seen = from_milliseconds(entry.last_seen_ms);
  return summary;
}

}  // namespace aflguard::gateway
