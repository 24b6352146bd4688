#include "gateway_server/pipeline/update_pipeline.h"

#include <algorithm>
#include <thread>

#include "core/envelope/message_codec.h"
#include "core/envelope/piece.h"

namespace aflguard::gateway {
namespace {

constexpr std::chrono::seconds kLongestExpiryInterval(5);
constexpr std::size_t kFinishedPlaces = 65'536;
constexpr std::size_t kMaxJudged = 4096;  // verdicts that wait to be shown to people

std::chrono::steady_clock::duration steady(GatewaySettings::Seconds seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(seconds);
}

/// No update for this model can be larger, whatever the configuration allows.
std::size_t largest_envelope(const PipelineParts& parts) {
  return std::min(parts.settings.limits.update_bytes, max_envelope_for(parts.dimension));
}

PieceAssemblerLimits assembler_limits(const PipelineParts& parts, const GatewaySettings::Limits& settings) {
  PieceAssemblerLimits limits;
  limits.max_envelope_bytes = largest_envelope(parts);
  limits.max_bytes = settings.inbox_bytes;
  limits.max_bytes_per_source = settings.device_bytes;
  limits.finished_places = kFinishedPlaces;
  limits.silence = steady(settings.silence);
  limits.stalled = std::min<std::chrono::steady_clock::duration>(limits.stalled, limits.silence);
  return limits;
}

std::chrono::steady_clock::duration expiry_interval(const GatewaySettings::Limits& limits) {
  return std::min<std::chrono::steady_clock::duration>(kLongestExpiryInterval, steady(limits.silence) / 2);
}

std::size_t worker_count(const GatewaySettings::Limits& limits) {
  if (limits.workers > 0) return limits.workers;
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 2, 5) - 1;
}

std::size_t most_waiting(const GatewaySettings::Limits& limits) {
  return limits.waiting_updates > 0 ? limits.waiting_updates : SIZE_MAX;
}

JudgeThread::Limits judge_limits(const GatewaySettings& settings) {
  // The bytes are counted where updates are let in.
  return {most_waiting(settings.limits), SIZE_MAX, settings.guard.reference_share};
}

VerificationPool::Limits pool_limits(const GatewaySettings::Limits& limits) {
  return {most_waiting(limits), SIZE_MAX, limits.device_updates};
}

std::function<bool(std::string_view)> is_paused(const PausedDevices* paused) {
  if (paused == nullptr) return {};
  return [paused](std::string_view device) { return paused->contains(device); };
}

Refusal refuse_for_room(std::size_t inside) {
  return refuse(RefusalReason::kOverloaded, "no room beside " + std::to_string(inside) +
                                                " updates that wait already and those that arrive");
}

Refusal refuse_for_now(const std::string& why) {
  return refuse(RefusalReason::kOverloaded, why);
}

Refusal refuse_stalled() {
  return refuse(RefusalReason::kOverloaded, "its pieces stopped coming, and others needed its place");
}

}  // namespace

UpdatePipeline::UpdatePipeline(PipelineParts parts)
    : parts_(std::move(parts)),
      limits_(parts_.settings.limits),
      outbox_limit_(limits_.outbox_bytes),
      opener_(parts_.registry, parts_.verifier),
      signer_(parts_.signer, parts_.terms, parts_.settings.training.taken),
      assembler_(assembler_limits(parts_, limits_)),
      expiry_due_(expiry_interval(parts_.settings.limits)),
      desk_(parts_.terms.fleet, parts_.refusals,
            [this](RefusalMessage refusal) { replies_.refuse(std::move(refusal)); }),
      pace_({parts_.settings.training.updates_per_second, parts_.settings.limits.device_bytes_per_day}),
      sealed_(SIZE_MAX, SIZE_MAX),
      judged_(kMaxJudged, SIZE_MAX),
      replies_(
          signer_,
          {parts_.settings.replies.models_per_second, parts_.settings.replies.history_bytes,
           parts_.settings.replies.grid},
          {.verdict =
               [this](const std::string& device, Bytes envelope, Bytes before) {
                 push_sealed({device, std::move(envelope), std::move(before)});
               },
           .model =
               [this](Bytes envelope) {
                 push_sealed({{}, std::move(envelope)});
               },
           .room_for_models = [this] { return sealed_.cost() + parts_.outbox_bytes() < outbox_limit_ / 2; },
           .wait_for_room = [this] { wait_for_room(); },
           .next_turn = [this](const std::string& device) { return next_turn(device); }},
          parts_.counters, parts_.clock, parts_.log),
      evaluation_(
          parts_.measure,
          parts_.settings.evaluation ? parts_.settings.evaluation->interval : GatewaySettings::Seconds(10),
          [this](const EvaluationRecord& done) {
            parts_.counters.test_error = done.test_error;
            parts_.counters.evaluated_version = done.version;
            ++parts_.counters.evaluations;
            judging_.submit(done);
          },
          parts_.clock, parts_.log),
      judging_(parts_.judge, judge_limits(parts_.settings), *this, parts_.counters, parts_.clock, parts_.log),
      verifying_(worker_count(parts_.settings.limits), pool_limits(parts_.settings.limits), opener_,
                 {parts_.terms.fleet, parts_.terms.model_hash, parts_.dimension, largest_envelope(parts_),
                  parts_.settings.training.taken, is_paused(parts_.paused)},
                 {.genuine = [this](VerifiedUpdate update) { return submit(std::move(update)); },
                  .refused = [this](RefusedUpdate refused) { refuse(std::move(refused)); }}) {
  if (parts_.reference != nullptr) {
    references_.emplace(
        *parts_.reference, [this](ReferenceReady ready) { judging_.submit(std::move(ready)); }, parts_.log);
  }
}

UpdatePipeline::~UpdatePipeline() {
  stop();
}

void UpdatePipeline::start() {
  judging_.start();
}

void UpdatePipeline::accept(const std::string& device, const Bytes& piece) {
  const Time now = parts_.clock.steady();
  RefusedUpdate refused{.device = device};
  const auto header = read_piece(piece);
  if (!header) {
    refused.refusal = header.error();
    return refuse(std::move(refused));
  }
  refused.transfer = header->header.transfer;
  const bool opens = assembler_.opens(device, header->header, now);
  if (opens) {
    if (const auto early = pace_.early(device, now)) {
      refused.refusal = refuse_for_now(early->why);
      refused.come_back = early->left;
      return refuse(std::move(refused));
    }
  }
  if (opens && !has_room(device, header->header, now)) {
    refused.refusal = refuse_for_room(verifying_.inside());
    return refuse(std::move(refused));
  }
  auto envelope = assembler_.accept(device, piece, now);
  inbox_bytes_ = assembler_.bytes();
  for (PieceAssembler::PushedOut& other : assembler_.take_pushed_out()) {
    refuse({.device = std::move(other.source), .transfer = other.transfer, .refusal = refuse_stalled()});
  }
  if (!envelope) {
    refused.refusal = envelope.error();
    return refuse(std::move(refused));
  }
  if (opens) desk_.let_in(device);
  if (envelope->has_value()) verifying_.submit({device, std::move(**envelope)});
}

/// A device without an appointment leaves a quarter of the room to those who have one.
bool UpdatePipeline::has_room(const std::string& device, const PieceHeader& header, Time now) {
  // An encoded update becomes as large as the model once it is decoded.
  const std::size_t decoded = verifying_.most_bytes(0) + kTransferOverhead;
  const std::size_t arriving = std::max(assembler_.charge(), assembler_.transfers() * decoded);
  const std::size_t inside = verifying_.inside_bytes() + arriving;
  const std::size_t room = limits_.inbox_bytes + limits_.waiting_bytes;
  const std::size_t needed = inside + verifying_.most_bytes(header.total) + kTransferOverhead;
  if (needed <= room / 4 * 3 || inside == 0) return true;
  return needed <= room && !desk_.comes_after_others(device, now);
}

void UpdatePipeline::refuse(RefusedUpdate refused) {
  desk_.refuse(refused, verifying_.inside(), parts_.clock.steady());
}

void UpdatePipeline::tick(Time now) {
  if (pace_due_.due(now)) {
    desk_.measure(parts_.counters.accepted + parts_.counters.rejected + parts_.counters.repeats, now);
  }
  take_limits();
  if (!expiry_due_.due(now)) return;
  const std::size_t dropped = assembler_.expire(now);
  inbox_bytes_ = assembler_.bytes();
  if (dropped == 0) return;
  abandoned_ += dropped;
  parts_.log.info(std::to_string(dropped) + " unfinished updates were dropped after " +
                  std::to_string(static_cast<int>(limits_.silence.count())) + " s of silence");
}

void UpdatePipeline::change(PipelineChange change) {
  verifying_.set_device_updates(change.limits.device_updates);
  outbox_limit_ = change.limits.outbox_bytes;
  replies_.change(std::move(change.terms), change.replies.models_per_second);
  if (!change.measure) parts_.counters.test_error = -1;
  evaluation_.change(std::move(change.measure), change.evaluation_interval);
  judging_.submit(std::move(change.judge));
  const std::lock_guard lock(mutex_);
  fresh_limits_ = std::move(change.limits);
}

void UpdatePipeline::take_limits() {
  const std::lock_guard lock(mutex_);
  if (!fresh_limits_) return;
  limits_ = std::move(*fresh_limits_);
  fresh_limits_.reset();
  assembler_.set_limits(assembler_limits(parts_, limits_));
  expiry_due_.set_interval(expiry_interval(limits_));
}

/// In the order of the data, so that each finishes what the one before has handed on.
void UpdatePipeline::stop() {
  {
    const std::lock_guard lock(room_mutex_);
    stopping_ = true;
  }
  room_made_.notify_one();
  verifying_.stop();
  if (references_) references_->stop();
  evaluation_.stop();
  judging_.stop();
  replies_.stop();
}

/// By the threads that verify.
bool UpdatePipeline::submit(VerifiedUpdate update) {
  pace_.count(update.device, update.envelope_bytes, 1, parts_.clock.steady());
  if (update.format > kFirstFormat) {
    replies_.note_base(update.device, update.message.sequence, update.message.base_version);
  }
  return judging_.submit(std::move(update));
}

void UpdatePipeline::on_judged(JudgedUpdate update) {
  (void)judged_.push(std::move(update));  // what is left out costs only detail
}

void UpdatePipeline::on_model(SharedModel model) {
  replies_.set_model(model);
  evaluation_.offer(std::move(model));
}

void UpdatePipeline::on_reply(VerdictMessage reply) {
  replies_.reply(std::move(reply));
}

void UpdatePipeline::on_refused(const std::string& device, const Refusal& refusal) {
  parts_.refusals.note(device, refusal, parts_.clock.steady());
}

void UpdatePipeline::on_reference_due(SharedModel model, std::uint64_t due_since) {
  if (references_) references_->request(std::move(model), due_since);
}

void UpdatePipeline::push_sealed(SealedReply sealed) {
  const std::size_t size = sealed.envelope.size() + sealed.before.size();
  if (!sealed.device.empty()) pace_.count(sealed.device, size, 0, parts_.clock.steady());
  (void)sealed_.push(std::move(sealed), size);
  parts_.wake();
}

std::chrono::milliseconds UpdatePipeline::next_turn(const std::string& device) {
  const auto pause = pace_.next_turn(device, parts_.clock.steady());
  if (pause.count() > 0) ++parts_.counters.paced;
  parts_.counters.pause_ms = static_cast<std::uint64_t>(pause.count());
  return pause;
}

/// By the thread that signs. Once the pipeline stops, what is left is signed without models, and small.
void UpdatePipeline::wait_for_room() {
  std::unique_lock lock(room_mutex_);
  room_made_.wait(lock, [&] { return stopping_ || sealed_.cost() < outbox_limit_ / 4; });
}

std::optional<SealedReply> UpdatePipeline::next_sealed() {
  auto sealed = sealed_.try_pop();
  if (sealed) {
    { const std::lock_guard lock(room_mutex_); }  // the signing thread either sees the room or waits already
    room_made_.notify_one();
  }
  return sealed;
}

}  // namespace aflguard::gateway
