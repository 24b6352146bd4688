#pragma once

#include <atomic>
#include <optional>
#include <thread>
#include <variant>

#include "core/base/bounded_queue.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "gateway_server/judging/gateway_counters.h"
#include "gateway_server/judging/judge_listener.h"
#include "gateway_server/judging/update_judge.h"

namespace aflguard::gateway {

/// A reference that another thread has computed, or could not.
struct ReferenceReady {
  std::optional<ReferenceUpdate> reference;
  std::uint64_t due_since = 0;
  std::chrono::steady_clock::duration cost{};  ///< CPU time that it took
};

/// Devices were enrolled or revoked.
struct VotersChanged {
  BookNews news;
};

/// The one thread that owns the judge, and with it model, guard, store and recording. It takes what waits,
/// up to a group, judges it, makes the group durable with one commit, and lets the answers out.
class JudgeThread final {
 public:
  using Input = std::variant<VerifiedUpdate, ReferenceReady, EvaluationRecord, VotersChanged, JudgeChange>;

  struct Limits {
    std::size_t waiting_updates = 64;
    std::size_t waiting_bytes = 128u << 20;
    /// References are requested so seldom that they take at most this share of one core's time.
    double reference_share = 1;
  };

  /// All borrowed.
  JudgeThread(UpdateJudge& judge, const Limits& limits, JudgeListener& listener, GatewayCounters& counters,
              const Clock& clock, LogSink& log);
  ~JudgeThread();

  void start();
  /// False when too much waits already. From any thread.
  [[nodiscard]] bool submit(VerifiedUpdate update);
  void submit(ReferenceReady reference) { queue_.push_always(Input(std::move(reference))); }
  void submit(VotersChanged changed) { queue_.push_always(Input(std::move(changed))); }
  void submit(JudgeChange change) { queue_.push_always(Input(std::move(change))); }
  void submit(const EvaluationRecord& evaluation) { queue_.push_always(Input(evaluation)); }
  /// Judges and commits what waits, then ends. A store that does not work is not waited for.
  void stop();
  [[nodiscard]] std::size_t waiting() const { return queue_.size(); }

 private:
  void run();
  void handle(Input input);
  void handle(VerifiedUpdate update);
  void handle(ReferenceReady ready);
  void handle(const EvaluationRecord& evaluation);
  void handle(const VotersChanged& changed) { judge_.voters_changed(changed.news); }
  void handle(JudgeChange change);
  /// Tries until it works, or the gateway stops; false then, and when it will never work.
  [[nodiscard]] bool commit();
  /// What waits stays in the queue, whose senders are refused as it fills, until the gateway stops.
  void rest();
  void report_judged();
  void hand_out();
  void note_verdict(const Verdict& verdict);
  void note_reference();
  void request_reference();
  void sign_of_life();

  UpdateJudge& judge_;
  JudgeListener& listener_;
  GatewayCounters& counters_;
  const Clock& clock_;
  LogSink& log_;
  BoundedQueue<Input> queue_;
  std::atomic<bool> stopping_{false};
  SharedModel model_;
  double reference_share_;
  bool reference_requested_ = false;
  std::chrono::steady_clock::time_point reference_rest_{};  ///< none is requested before
  std::thread thread_;
};

}  // namespace aflguard::gateway
