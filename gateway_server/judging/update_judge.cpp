#include "gateway_server/judging/update_judge.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace aflguard::gateway {
namespace {

std::int64_t milliseconds(const Clock& clock) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock.wall().time_since_epoch()).count();
}

}  // namespace

UpdateJudge::UpdateJudge(std::string fleet, Aggregator& aggregator, GatewayStore& store,
                         std::vector<DeviceRecord> devices, std::unique_ptr<RecordingWriter> recording,
                         const Clock& clock, LogSink& log)
    : fleet_(std::move(fleet)),
      aggregator_(aggregator),
      store_(store),
      recording_(std::move(recording)),
      clock_(clock),
      log_(log) {
  for (DeviceRecord& known : devices) {
    next_device_ = std::max(next_device_, known.id + 1);
    devices_.emplace(known.name, std::move(known));
  }
}

Status UpdateJudge::judge(const VerifiedUpdate& update) {
  DeviceRecord& sender = device(update.device);
  switch (sender.window.standing(update.message.sequence)) {
    case ReplayWindow::Standing::kNew:
      return judge_new(sender, update);
    case ReplayWindow::Standing::kJudged:
      ++repeats_;
      answer_again(sender, update.message.sequence);
      break;
    case ReplayWindow::Standing::kTooOld:
      refuse_replayed(sender, update.message.sequence);
      break;
  }
  return {};
}

Status UpdateJudge::install_reference(ReferenceUpdate reference, std::uint64_t due_since) {
  Bytes entry;
  if (recording_ != nullptr) entry = encode_entry(RecordedReference{reference, due_since});
  TRY_STATUS(aggregator_.install_reference(std::move(reference), due_since));
  reference_time_ = clock_.steady();
  reference_stored_ = false;
  if (recording_ != nullptr) entries_.push_back(std::move(entry));
  return {};
}

void UpdateJudge::forget_after(std::chrono::milliseconds silence) {
  silence_ms_ = aggregator_.guard().needs().votes ? silence.count() : 0;
  heard_.clear();
  if (silence_ms_ <= 0) return;
  for (const auto& [name, known] : devices_) heard_.emplace(known.last_seen_ms, known.id);
}

void UpdateJudge::count_only(std::function<bool(std::string_view)> is_enrolled) {
  is_enrolled_ = std::move(is_enrolled);
  voters_changed();
}

bool UpdateJudge::counts(const DeviceRecord& known) const {
  return !is_enrolled_ || is_enrolled_(known.name);
}

void UpdateJudge::voters_changed() {
  if (!aggregator_.guard().needs().votes) return;
  for (const auto& [name, known] : devices_) {
    if (counts(known)) {
      left_.erase(known.id);
    } else if (left_.insert(known.id).second) {
      heard_.erase({known.last_seen_ms, known.id});
      forget(known.id);
    }
  }
}

void UpdateJudge::forget(ClientId client) {
  aggregator_.forget(client);
  if (recording_ != nullptr) entries_.push_back(encode_entry(RecordedDeparture{client}));
}

void UpdateJudge::forget_silent() {
  if (silence_ms_ <= 0) return;
  const std::int64_t oldest = milliseconds(clock_) - silence_ms_;
  while (!heard_.empty() && heard_.begin()->first < oldest) {
    forget(heard_.begin()->second);
    heard_.erase(heard_.begin());
  }
}

void UpdateJudge::note_vote(const DeviceRecord& sender, std::int64_t seen_before_ms) {
  if (!aggregator_.guard().needs().votes) return;
  heard_.erase({seen_before_ms, sender.id});
  if (!counts(sender)) {  // revoked while its update was under way
    left_.insert(sender.id);
    forget(sender.id);
  } else if (silence_ms_ > 0) {
    heard_.emplace(sender.last_seen_ms, sender.id);
  }
}

Status UpdateJudge::judge_new(DeviceRecord& sender, const VerifiedUpdate& update) {
  const UpdateMessage& message = update.message;
  forget_silent();
  TRY(Verdict verdict, aggregator_.submit({sender.id, message.base_version, message.vector}));
  sender.window.record(message.sequence);
  ++(verdict.accepted ? sender.accepted : sender.rejected);
  const std::int64_t seen_before_ms = std::exchange(sender.last_seen_ms, milliseconds(clock_));
  if (std::find(touched_.begin(), touched_.end(), sender.name) == touched_.end()) {
    touched_.push_back(sender.name);
  }
  const VerdictRecord judged = {.iteration = aggregator_.iteration(),
                                .device = sender.id,
                                .sequence = message.sequence,
                                .verdict = verdict,
                                .base_version = message.base_version,
                                .version = aggregator_.model().version(),
                                .time_ms = sender.last_seen_ms};
  record(sender, judged, message.vector);
  note_vote(sender, seen_before_ms);
  replies_.push_back(message_for(sender, judged));
  verdicts_.push_back(judged);
  return {};
}

void UpdateJudge::answer_again(const DeviceRecord& sender, std::uint64_t sequence) {
  const auto pending = std::find_if(verdicts_.begin(), verdicts_.end(), [&](const VerdictRecord& record) {
    return record.device == sender.id && record.sequence == sequence;
  });
  if (pending != verdicts_.end()) return;  // its answer is about to leave
  const auto stored = store_.find_verdict(sender.id, sequence);
  if (!stored.ok()) {
    log_.warning("the verdict on update " + std::to_string(sequence) + " of device '" + sender.name +
                 "' could not be read: " + stored.error().message);  // the device will ask again
  } else if (stored->has_value()) {
    replies_.push_back(message_for(sender, **stored));
  } else {
    refuse_replayed(sender, sequence);
  }
}

/// Answered, so that a device that lost its counter finds the next number.
void UpdateJudge::refuse_replayed(const DeviceRecord& sender, std::uint64_t sequence) {
  VerdictMessage message;
  message.fleet = fleet_;
  message.device = sender.name;
  message.sequence = sequence;
  message.reason = static_cast<std::uint8_t>(RefusalReason::kReplayed);
  message.version = aggregator_.model().version();
  message.highest_sequence = sender.window.highest();
  replies_.push_back(std::move(message));
  if (on_refusal) {
    on_refusal(sender.name,
               aflguard::refuse(RefusalReason::kReplayed, "update " + std::to_string(sequence) +
                                                              " is too old to be judged, the newest was " +
                                                              std::to_string(sender.window.highest())));
  }
}

VerdictMessage UpdateJudge::message_for(const DeviceRecord& sender, const VerdictRecord& judged) const {
  const auto finite = [](double number) { return std::isfinite(number) ? number : 0; };
  VerdictMessage message;
  message.fleet = fleet_;
  message.device = sender.name;
  message.sequence = judged.sequence;
  message.accepted = judged.verdict.accepted;
  message.reason = static_cast<std::uint8_t>(judged.verdict.reason);
  message.distance = finite(judged.verdict.distance);
  message.bound = finite(judged.verdict.bound);
  message.version = judged.version;
  message.delay = judged.verdict.delay;
  message.highest_sequence = sender.window.highest();
  return message;
}

Status UpdateJudge::commit() {
  if (!verdicts_.empty()) {
    std::vector<DeviceRecord> devices;
    for (const std::string& name : touched_) devices.push_back(devices_.find(name)->second);
    const auto state = aggregator_.save_without_reference();
    const auto reference = reference_stored_ ? Bytes() : aggregator_.save_reference();
    TRY_STATUS(store_.commit(
        {verdicts_, devices, aggregator_.iteration(), aggregator_.model().version(), state, reference}));
    reference_stored_ = true;
    tell_verdicts(devices);
    write_recording();
  }
  verdicts_.clear();
  touched_.clear();
  std::move(replies_.begin(), replies_.end(), std::back_inserter(released_));
  replies_.clear();
  return {};
}

void UpdateJudge::tell_verdicts(std::span<const DeviceRecord> devices) const {
  if (!on_verdict) return;
  for (const VerdictRecord& verdict : verdicts_) {
    const auto device = std::find_if(devices.begin(), devices.end(), [&](const DeviceRecord& candidate) {
      return candidate.id == verdict.device;
    });
    on_verdict(verdict, *device);
  }
}

std::vector<VerdictMessage> UpdateJudge::take_replies() {
  return std::exchange(released_, {});
}

DeviceRecord& UpdateJudge::device(const std::string& name) {
  const auto found = devices_.find(name);
  if (found != devices_.end()) return found->second;
  DeviceRecord record;
  record.id = next_device_++;
  record.name = name;
  return devices_.emplace(name, std::move(record)).first->second;
}

void UpdateJudge::record(const DeviceRecord& sender, const VerdictRecord& judged,
                         std::span<const float> vector) {
  if (recording_ == nullptr) return;
  RecordedUpdate entry;
  entry.iteration = judged.iteration;
  entry.client = judged.device;
  entry.device = sender.name;
  entry.sequence = judged.sequence;
  entry.base_version = judged.base_version;
  entry.verdict = judged.verdict;
  entry.version = judged.version;
  entries_.push_back(encode_entry(entry, vector));
}

/// After the commit, so that a recording never holds a verdict that was taken back by a crash.
void UpdateJudge::write_recording() {
  for (const Bytes& entry : std::exchange(entries_, {})) {
    if (recording_ == nullptr) return;
    if (const Status written = recording_->append(entry); !written.ok()) {
      log_.error("the recording ends here, the fleet goes on: " + written.error().message);
      recording_.reset();
    }
  }
}

}  // namespace aflguard::gateway
