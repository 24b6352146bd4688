#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/aggregation/aggregator.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/envelope/messages.h"
#include "core/recording/recording_file.h"
#include "core/verdict/refusal.h"
#include "gateway_server/intake/verified_update.h"
#include "gateway_server/judging/gateway_store.h"
#include "gateway_server/judging/judge_change.h"
#include "gateway_server/judging/judged_update.h"
#include "gateway_server/judging/voter_roll.h"

namespace aflguard::gateway {

/// Turns verified updates into durable verdicts. The one owner of aggregator, store and recording; no thread
/// and no network in here.
///
///   judge() for one update or several, then commit() until it succeeds, then take_judged() and
///   take_replies().
///
/// Nothing leaves before it is durable: verdicts and replies come out only after the commit that holds them.
class UpdateJudge final {
 public:
  /// All references are borrowed and outlive this object. `devices` as the store gave them. `recording` may
  /// be null.
  UpdateJudge(std::string fleet, Aggregator& aggregator, GatewayStore& store,
              std::vector<DeviceRecord> devices, std::unique_ptr<RecordingWriter> recording,
              const Clock& clock, LogSink& log);

  /// Judges a new update, or finds the answer that a repeated one got. Fails only while there is no reference
  /// update; then nothing has happened.
  [[nodiscard]] Status judge(const VerifiedUpdate& update);
  [[nodiscard]] Status install_reference(ReferenceUpdate reference, std::uint64_t due_since);

  /// Who counts for guards that compare devices; for other guards this changes nothing. A device that is
  /// forgotten is recorded, so that a replay forgets it too.
  void count_voters(VoterRules rules);
  /// Devices were enrolled or revoked.
  void voters_changed(const BookNews& news);

  /// Judges by other settings from now on. Nothing is waiting for a commit. A running recording goes on in
  /// a new segment, which begins with these settings, so that a replay agrees.
  void change(JudgeChange change);

  /// An answer is waiting for its commit.
  [[nodiscard]] bool has_pending() const { return !pending_.replies.empty(); }
  /// Makes everything judged so far durable. After a failure nothing is lost: call it again.
  [[nodiscard]] Status commit();
  /// What the last commit made durable, in order; repeated updates are not in it.
  [[nodiscard]] std::vector<JudgedUpdate> take_judged();
  /// The answers that the last commit released, in order, without models.
  [[nodiscard]] std::vector<VerdictMessage> take_replies();
  /// An update that was not judged because its number is too old.
  struct Refused {
    std::string device;
    Refusal refusal;
  };
  /// Those since the last call; they wait for no commit.
  [[nodiscard]] std::vector<Refused> take_refused();

  /// A device whose stored verdict could not be read (the text says why), or could be read again (no text).
  struct ReadBack {
    std::string device;
    std::string problem;
  };
  /// Those since the last call.
  [[nodiscard]] std::vector<ReadBack> take_read_back();

  [[nodiscard]] Status add_evaluation(const EvaluationRecord& evaluation) {
    return store_.add_evaluation(evaluation);
  }
  [[nodiscard]] const Aggregator& aggregator() const { return aggregator_; }
  /// By name, as of the last verdict.
  [[nodiscard]] const VoterRoll::Devices& devices() const { return devices_; }
  [[nodiscard]] std::uint64_t repeats() const { return repeats_; }
  /// When the reference in force was installed; none when the store had it.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> reference_time() const {
    return reference_time_;
  }
  /// Bytes of the running recording; 0 without one.
  [[nodiscard]] std::uint64_t recorded_bytes() const {
    return recording_.writer ? recording_.writer->bytes() : 0;
  }

 private:
  [[nodiscard]] DeviceRecord& device(const std::string& name);
  [[nodiscard]] Status judge_new(DeviceRecord& device, const VerifiedUpdate& update);
  void answer_again(const DeviceRecord& device, std::uint64_t sequence);
  void refuse_replayed(const DeviceRecord& device, std::uint64_t sequence);
  [[nodiscard]] VerdictMessage message_for(const DeviceRecord& device, const VerdictRecord& record) const;
  void forget(ClientId client);
  void record(const DeviceRecord& device, const VerdictRecord& verdict, std::span<const float> vector);
  void write_recording();
  void release_judged(std::span<const DeviceRecord> devices);

  /// Judged, waits for the commit.
  struct Pending {
    std::vector<VerdictRecord> verdicts;
    std::vector<std::string> touched;  ///< devices changed since the last commit
    std::vector<VerdictMessage> replies;
  };
  /// Durable, may leave.
  struct Released {
    std::vector<JudgedUpdate> judged;
    std::vector<VerdictMessage> replies;
  };
  struct Recording {
    std::unique_ptr<RecordingWriter> writer;  ///< null: nothing is recorded
    std::vector<Bytes> entries;               ///< written after the commit
  };

  std::string fleet_;
  std::string guard_text_;  ///< empty: as at the start
  Aggregator& aggregator_;
  GatewayStore& store_;
  VoterRoll::Devices devices_;
  ClientId next_device_ = 1;
  VoterRoll voters_;
  Recording recording_;
  const Clock& clock_;
  LogSink& log_;
  Pending pending_;
  Released released_;
  std::vector<Refused> refused_;
  std::vector<ReadBack> read_back_;
  bool reference_stored_ = false;  ///< the one in force, by this program
  std::uint64_t repeats_ = 0;
  std::optional<std::chrono::steady_clock::time_point> reference_time_;
};

}  // namespace aflguard::gateway
