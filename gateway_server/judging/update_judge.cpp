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
      recording_{std::move(recording), {}},
      clock_(clock),
      log_(log) {
  // In the order of the map, which then takes each without a search.
  std::sort(devices.begin(), devices.end(),
            [](const DeviceRecord& a, const DeviceRecord& b) { return a.name < b.name; });
  for (DeviceRecord& known : devices) {
    next_device_ = std::max(next_device_, known.id + 1);
    std::string name = known.name;
    devices_.try_emplace(devices_.end(), std::move(name), std::move(known));
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
  if (recording_.writer != nullptr) entry = encode_entry(RecordedReference{reference, due_since});
  TRY_STATUS(aggregator_.install_reference(std::move(reference), due_since));
  reference_time_ = clock_.steady();
  reference_stored_ = false;
  if (recording_.writer != nullptr) recording_.entries.push_back(std::move(entry));
  return {};
}

void UpdateJudge::count_voters(VoterRules rules) {
  if (!aggregator_.guard().needs().votes) return;
  voters_ = VoterRoll(std::move(rules), devices_);
  voters_changed({.everything = true});
}

void UpdateJudge::voters_changed(const BookNews& news) {
  for (const ClientId departed : voters_.take_departed(devices_, news)) forget(departed);
}

void UpdateJudge::forget(ClientId client) {
  aggregator_.forget(client);
  if (recording_.writer != nullptr) recording_.entries.push_back(encode_entry(RecordedDeparture{client}));
}

void UpdateJudge::change(JudgeChange change) {
  check(pending_.verdicts.empty(), "a verdict waits for its commit");
  aggregator_.change(change.options, std::move(change.guard));
  guard_text_ = std::move(change.guard_text);
  voters_ = VoterRoll();
  count_voters(std::move(change.voters));
  if (recording_.writer == nullptr || !change.record) return;
  recording_ = {};  // references and departures that were not written are in the new segment's state
  if (auto segment = change.record(aggregator_); segment.ok()) {
    recording_.writer = std::move(*segment);
  } else {
    log_.error("the recording ends here, the fleet goes on: " + segment.error().message);
  }
}

Status UpdateJudge::judge_new(DeviceRecord& sender, const VerifiedUpdate& update) {
  const UpdateMessage& message = update.message;
  for (const ClientId silent : voters_.take_silent(milliseconds(clock_))) forget(silent);
  TRY(Verdict verdict, aggregator_.submit({sender.id, message.base_version, message.vector}));
  sender.window.record(message.sequence);
  ++(verdict.accepted ? sender.accepted : sender.rejected);
  const std::int64_t seen_before_ms = std::exchange(sender.last_seen_ms, milliseconds(clock_));
  if (std::find(pending_.touched.begin(), pending_.touched.end(), sender.name) == pending_.touched.end()) {
    pending_.touched.push_back(sender.name);
  }
  const VerdictRecord judged = {.iteration = aggregator_.iteration(),
                                .device = sender.id,
                                .sequence = message.sequence,
                                .verdict = verdict,
                                .base_version = message.base_version,
                                .version = aggregator_.model().version(),
                                .time_ms = sender.last_seen_ms};
  record(sender, judged, message.vector);
  if (!voters_.note_vote(sender, seen_before_ms)) forget(sender.id);
  pending_.replies.push_back(message_for(sender, judged));
  pending_.verdicts.push_back(judged);
  return {};
}

void UpdateJudge::answer_again(const DeviceRecord& sender, std::uint64_t sequence) {
  const auto pending = std::find_if(
      pending_.verdicts.begin(), pending_.verdicts.end(),
      [&](const VerdictRecord& record) { return record.device == sender.id && record.sequence == sequence; });
  if (pending != pending_.verdicts.end()) return;  // its answer is about to leave
  const auto stored = store_.find_verdict(sender.id, sequence);
  if (!stored.ok()) {  // the device asks again, and reports an alert itself
    const std::string problem = "the verdict on update " + std::to_string(sequence) + " of device '" +
                                sender.name + "' could not be read: " + stored.error().message;
    log_.warning(problem);
    read_back_.push_back({sender.name, problem});
    return;
  }
  read_back_.push_back({sender.name, ""});
  if (stored->has_value()) {
    pending_.replies.push_back(message_for(sender, **stored));
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
  pending_.replies.push_back(std::move(message));
  refused_.push_back(
      {sender.name, refuse(RefusalReason::kReplayed, "update " + std::to_string(sequence) +
                                                         " is too old to be judged, the newest was " +
                                                         std::to_string(sender.window.highest()))});
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
  if (!pending_.verdicts.empty()) {
    std::vector<DeviceRecord> devices;
    for (const std::string& name : pending_.touched) devices.push_back(devices_.find(name)->second);
    const auto state = aggregator_.save_without_reference();
    const auto reference = reference_stored_ ? Bytes() : aggregator_.save_reference();
    TRY_STATUS(store_.commit({pending_.verdicts, devices, aggregator_.iteration(),
                              aggregator_.model().version(), state, reference, guard_text_}));
    reference_stored_ = true;
    release_judged(devices);
    write_recording();
  }
  pending_.verdicts.clear();
  pending_.touched.clear();
  std::move(pending_.replies.begin(), pending_.replies.end(), std::back_inserter(released_.replies));
  pending_.replies.clear();
  return {};
}

void UpdateJudge::release_judged(std::span<const DeviceRecord> devices) {
  for (const VerdictRecord& verdict : pending_.verdicts) {
    const auto device = std::find_if(devices.begin(), devices.end(), [&](const DeviceRecord& candidate) {
      return candidate.id == verdict.device;
    });
    released_.judged.push_back({.id = device->id,
                                .device = device->name,
                                .accepted = device->accepted,
                                .rejected = device->rejected,
                                .verdict = verdict.verdict,
                                .version = verdict.version,
                                .time_ms = verdict.time_ms});
  }
}

std::vector<JudgedUpdate> UpdateJudge::take_judged() {
  return std::exchange(released_.judged, {});
}

std::vector<VerdictMessage> UpdateJudge::take_replies() {
  return std::exchange(released_.replies, {});
}

std::vector<UpdateJudge::Refused> UpdateJudge::take_refused() {
  return std::exchange(refused_, {});
}

std::vector<UpdateJudge::ReadBack> UpdateJudge::take_read_back() {
  return std::exchange(read_back_, {});
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
  if (recording_.writer == nullptr) return;
  RecordedUpdate entry;
  entry.iteration = judged.iteration;
  entry.client = judged.device;
  entry.device = sender.name;
  entry.sequence = judged.sequence;
  entry.base_version = judged.base_version;
  entry.verdict = judged.verdict;
  entry.version = judged.version;
  recording_.entries.push_back(encode_entry(entry, vector));
}

/// After the commit, so that a recording never holds a verdict that was taken back by a crash.
void UpdateJudge::write_recording() {
  for (const Bytes& entry : std::exchange(recording_.entries, {})) {
    if (recording_.writer == nullptr) return;
    if (const Status written = recording_.writer->append(entry); !written.ok()) {
      log_.error("the recording ends here, the fleet goes on: " + written.error().message);
      recording_.writer.reset();
    }
  }
}

}  // namespace aflguard::gateway
