#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/bounded_queue.h"
#include "core/base/every.h"
#include "core/envelope/piece_assembler.h"
#include "gateway_server/intake/paused_devices.h"
#include "gateway_server/intake/refusal_desk.h"
#include "gateway_server/intake/turn_pace.h"
#include "gateway_server/intake/verification_pool.h"
#include "gateway_server/judging/evaluation_thread.h"
#include "gateway_server/judging/judge_listener.h"
#include "gateway_server/judging/judge_thread.h"
#include "gateway_server/judging/reference_thread.h"
#include "gateway_server/replies/reply_thread.h"
#include "gateway_server/settings/gateway_settings.h"

namespace aflguard::gateway {

/// What the pipeline is made from. References are borrowed.
struct PipelineParts {
  const GatewaySettings& settings;
  ModelMessage terms;  ///< fleet, hash, training settings: what every model message carries
  std::size_t dimension = 0;
  const DeviceRegistry& registry;
  const Verifier& verifier;
  Signer& signer;
  UpdateJudge& judge;
  ReferenceSource* reference = nullptr;    ///< null when the guard needs none
  EvaluationThread::Measure measure = {};  ///< empty: no evaluation
  const PausedDevices* paused = nullptr;   ///< null: none is
  GatewayCounters& counters;
  RefusalLog& refusals;
  std::function<void()> wake;  ///< called on other threads when next_sealed() has something new
  /// Answers that were taken from next_sealed() and are still on their way, in bytes; from any thread.
  std::function<std::size_t()> outbox_bytes = [] { return std::size_t{0}; };
  const Clock& clock;
  LogSink& log;
};

/// What can change while the pipeline runs; checked before.
struct PipelineChange {
  GatewaySettings::Limits limits;
  GatewaySettings::Replies replies;
  ModelMessage terms;
  JudgeChange judge;
  EvaluationThread::Measure measure = {};  ///< empty: no evaluation
  GatewaySettings::Seconds evaluation_interval{10};
};

/// A signed message, ready to leave.
struct SealedReply {
  std::string device;  ///< whom the verdict is for; empty: the model, for the retained topic
  Bytes envelope;
  Bytes before{};  ///< another envelope for that device, which leaves first; or empty
};

/// Pieces of updates in, signed verdicts and models out.
///
///   piece assembler -> verification pool -> judge thread -> (durable) -> reply thread
///          |                   |                                            ^
///          +-------------------+--> refusal desk ---------------------------+
///
/// An update that is let in with its first piece has its place until it is judged: what is inside never needs
/// more than inbox_bytes and waiting_bytes together. Who finds no room is told when to come back.
///
/// One thread calls accept() and tick(), one all others; the work happens on more.
class UpdatePipeline final : private JudgeListener {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit UpdatePipeline(PipelineParts parts);
  ~UpdatePipeline() override;

  void start();
  /// One piece from the topic of `device`. What does not fit is refused and counted.
  void accept(const std::string& device, const Bytes& piece);
  /// Drops transfers that have been silent for too long.
  void tick(Time now);
  /// Devices were enrolled or revoked.
  void voters_changed(BookNews news) { judging_.submit(VotersChanged{std::move(news)}); }
  /// From the thread that calls everything but accept() and tick().
  void change(PipelineChange change);

  [[nodiscard]] std::optional<SealedReply> next_sealed();
  /// Durable verdicts, to show to people. When very many come at once, some are left out.
  [[nodiscard]] std::optional<JudgedUpdate> next_judged() { return judged_.try_pop(); }
  /// The newest durable model; null before start().
  [[nodiscard]] SharedModel model() const { return replies_.model(); }
  /// Tells a device what this gateway takes beside format 1.
  void offer(const std::string& device) { replies_.offer(device); }
  /// Signs the newest model for the retained topic.
  void seal_model() { replies_.publish_model(); }

  /// Judges, makes durable and signs what has arrived, then ends every thread.
  void stop();

  [[nodiscard]] std::size_t waiting() const { return verifying_.waiting() + judging_.waiting(); }
  [[nodiscard]] std::size_t inbox_bytes() const { return inbox_bytes_; }
  /// Transfers that were dropped unfinished.
  [[nodiscard]] std::uint64_t abandoned() const { return abandoned_; }

 private:
  void on_judged(JudgedUpdate update) override;
  void on_model(SharedModel model) override;
  void on_reply(VerdictMessage reply) override;
  void on_refused(const std::string& device, const Refusal& refusal) override;
  void on_reference_due(SharedModel model, std::uint64_t due_since) override;
  [[nodiscard]] bool submit(VerifiedUpdate update);
  void push_sealed(SealedReply sealed);
  [[nodiscard]] std::chrono::milliseconds next_turn(const std::string& device);
  void wait_for_room();
  [[nodiscard]] bool has_room(const std::string& device, const PieceHeader& header, Time now);
  void refuse(RefusedUpdate refused);
  /// By the thread that calls accept() and tick(), which owns what these limits bound.
  void take_limits();

  PipelineParts parts_;
  std::mutex mutex_;
  std::optional<GatewaySettings::Limits> fresh_limits_;  ///< not yet taken
  GatewaySettings::Limits limits_;                       ///< of accept() and tick()
  std::atomic<std::size_t> outbox_limit_;
  EnvelopeOpener opener_;
  ReplySigner signer_;
  PieceAssembler assembler_;
  Every expiry_due_;
  Every pace_due_{std::chrono::milliseconds(250)};
  std::atomic<std::uint64_t> abandoned_{0};
  std::atomic<std::size_t> inbox_bytes_{0};
  RefusalDesk desk_;
  TurnPace pace_;
  BoundedQueue<SealedReply> sealed_;  ///< bounded by wait_for_room()
  std::mutex room_mutex_;
  std::condition_variable room_made_;
  bool stopping_ = false;
  BoundedQueue<JudgedUpdate> judged_;

  // In the order in which they may use each other.
  ReplyThread replies_;
  EvaluationThread evaluation_;
  JudgeThread judging_;
  std::optional<ReferenceThread> references_;
  VerificationPool verifying_;
};

}  // namespace aflguard::gateway
