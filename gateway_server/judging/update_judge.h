#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/aggregation/aggregator.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/envelope/messages.h"
#include "core/recording/recording_file.h"
#include "core/verdict/refusal.h"
#include "gateway_server/intake/update_quota.h"
#include "gateway_server/judging/gateway_store.h"

namespace aflguard::gateway {

/// An update whose sender is proven and whose fleet, model and size fit.
struct VerifiedUpdate {
  std::string device;
  UpdateMessage message;
  UpdateQuota::Place place = nullptr;  ///< among those that wait
};

/// Turns verified updates into durable verdicts. The one owner of aggregator, store and recording; no thread
/// and no network in here.
///
///   judge() for one update or several, then commit() until it succeeds, then take_replies().
///
/// Nothing leaves before it is durable: replies come out only after the commit that holds them.
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

  /// For guards that compare devices: a device of which nothing was judged for so long is forgotten, before
  /// the next update is judged. 0: never. Whoever is forgotten is recorded, so that a replay forgets alike.
  void forget_after(std::chrono::milliseconds silence);
  /// Only these devices are counted by guards that compare devices: who is not enrolled (any more) is
  /// forgotten, now, after whatever is still under way from it, and when voters_changed() says so.
  void count_only(std::function<bool(std::string_view device)> is_enrolled);
  void voters_changed();

  /// An answer is waiting for its commit.
  [[nodiscard]] bool has_pending() const { return !replies_.empty(); }
  /// Makes everything judged so far durable. After a failure nothing is lost: call it again.
  [[nodiscard]] Status commit();
  /// The answers that the last commit released, in order, without models.
  [[nodiscard]] std::vector<VerdictMessage> take_replies();

  [[nodiscard]] Status add_evaluation(const EvaluationRecord& evaluation) {
    return store_.add_evaluation(evaluation);
  }
  [[nodiscard]] const Aggregator& aggregator() const { return aggregator_; }
  /// By name, as of the last verdict.
  [[nodiscard]] const std::map<std::string, DeviceRecord, std::less<>>& devices() const { return devices_; }
  [[nodiscard]] std::uint64_t repeats() const { return repeats_; }
  /// When the reference in force was installed; none when the store had it.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> reference_time() const {
    return reference_time_;
  }
  /// Told of every verdict when it is durable; repeated ones are not told again.
  std::function<void(const VerdictRecord&, const DeviceRecord&)> on_verdict;
  /// Told of every update that was not judged because its number is too old.
  std::function<void(const std::string& device, const Refusal&)> on_refusal;
  /// Bytes of the running recording; 0 without one.
  [[nodiscard]] std::uint64_t recorded_bytes() const { return recording_ ? recording_->bytes() : 0; }

 private:
  [[nodiscard]] DeviceRecord& device(const std::string& name);
  [[nodiscard]] Status judge_new(DeviceRecord& device, const VerifiedUpdate& update);
  void answer_again(const DeviceRecord& device, std::uint64_t sequence);
  void refuse_replayed(const DeviceRecord& device, std::uint64_t sequence);
  [[nodiscard]] VerdictMessage message_for(const DeviceRecord& device, const VerdictRecord& record) const;
  void forget(ClientId client);
  void forget_silent();
  [[nodiscard]] bool counts(const DeviceRecord& device) const;
  void note_vote(const DeviceRecord& device, std::int64_t seen_before_ms);
  void record(const DeviceRecord& device, const VerdictRecord& verdict, std::span<const float> vector);
  void write_recording();
  void tell_verdicts(std::span<const DeviceRecord> devices) const;

  std::string fleet_;
  Aggregator& aggregator_;
  GatewayStore& store_;
  std::map<std::string, DeviceRecord, std::less<>> devices_;
  ClientId next_device_ = 1;
  std::unique_ptr<RecordingWriter> recording_;
  const Clock& clock_;
  LogSink& log_;

  std::int64_t silence_ms_ = 0;                        ///< 0: nobody is forgotten for being silent
  std::set<std::pair<std::int64_t, ClientId>> heard_;  ///< devices by the time of their latest update
  std::function<bool(std::string_view)> is_enrolled_;  ///< empty: everybody is
  std::set<ClientId> left_;                            ///< forgotten because they are not enrolled

  std::vector<VerdictRecord> verdicts_;   ///< judged, not yet durable
  std::vector<std::string> touched_;      ///< devices changed since the last commit
  std::vector<VerdictMessage> replies_;   ///< wait for the commit
  std::vector<VerdictMessage> released_;  ///< may leave
  std::vector<Bytes> entries_;            ///< for the recording, after the commit
  bool reference_stored_ = false;         ///< the one in force, by this program
  std::uint64_t repeats_ = 0;
  std::optional<std::chrono::steady_clock::time_point> reference_time_;
};

}  // namespace aflguard::gateway
