#include "gateway_server/gateway.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "core/envelope/piece_assembler.h"
#include "core/http/http_listener.h"
#include "core/system/disk_space.h"
#include "core/system/process_memory.h"
#include "core/system/service_notify.h"
#include "core/telemetry/gateway_metrics.h"
#include "core/telemetry/gateway_status.h"
#include "gateway_server/history/history_collector.h"
#include "gateway_server/history/history_thread.h"
#include "gateway_server/intake/refusal_log.h"
#include "gateway_server/intake/verification_pool.h"
#include "gateway_server/judging/judge_thread.h"
#include "gateway_server/judging/reference_thread.h"
#include "gateway_server/replies/outbox.h"
#include "gateway_server/replies/reply_thread.h"
#include "gateway_server/telemetry/counted_metrics.h"
#include "gateway_server/telemetry/device_presence.h"
#include "gateway_server/telemetry/device_summaries.h"
#include "gateway_server/telemetry/event_stream.h"
#include "gateway_server/telemetry/health.h"
#include "gateway_server/telemetry/home_assistant.h"
#include "gateway_server/telemetry/prometheus_text.h"

namespace aflguard::gateway {
namespace {

using Time = std::chrono::steady_clock::time_point;

constexpr std::chrono::milliseconds kTick(200);
constexpr std::chrono::seconds kBookInterval(1);
constexpr std::chrono::seconds kLongestExpiryInterval(5);
constexpr std::chrono::seconds kGoodbye(3);
constexpr std::chrono::seconds kJudgeSilence(30);           // longer than that, and systemd may restart us
constexpr std::size_t kRoomForFields = 1024;                // of an envelope around the vector
constexpr std::size_t kMaxUntold = 4096;                    // verdicts that wait to be shown to people
constexpr double kSummariesPerSecond = 50;                  // of all devices together
constexpr std::chrono::milliseconds kSummaryInterval(250);  // many at a time wake fewer threads
constexpr std::chrono::seconds kHistoryInterval(1);
constexpr std::size_t kMaxAnswers = 512;  // messages of history that wait to be sent
constexpr std::size_t kMaxAnswerBytes = 2u << 20;

/// Says when something is due again.
class Every final {
 public:
  explicit Every(std::chrono::steady_clock::duration interval) : interval_(interval) {}
  [[nodiscard]] bool due(Time now) {
    if (now < next_) return false;
    next_ = now + interval_;
    return true;
  }

 private:
  std::chrono::steady_clock::duration interval_;
  Time next_{};
};

std::chrono::steady_clock::duration steady(GatewaySettings::Seconds seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(seconds);
}

/// No update for this model can be larger than that, whatever the configuration allows.
std::size_t largest_envelope(const GatewayParts& parts) {
  return std::min(parts.settings.limits.update_bytes, parts.dimension * sizeof(float) + kRoomForFields);
}

PieceAssemblerLimits assembler_limits(const GatewayParts& parts) {
  PieceAssemblerLimits limits;
  limits.max_envelope_bytes = largest_envelope(parts);
  limits.max_bytes = parts.settings.limits.inbox_bytes;
  limits.max_bytes_per_source = parts.settings.limits.device_bytes;
  limits.silence = steady(parts.settings.limits.silence);
  return limits;
}

std::chrono::steady_clock::duration expiry_interval(const GatewaySettings::Limits& limits) {
  return std::min<std::chrono::steady_clock::duration>(kLongestExpiryInterval, steady(limits.silence) / 2);
}

std::size_t worker_count(const GatewaySettings::Limits& limits) {
  if (limits.workers > 0) return limits.workers;
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 2, 5) - 1;
}

std::int64_t milliseconds(Time time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

Bytes as_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

class Gateway::Engine final {
 public:
  explicit Engine(GatewayParts parts);
  ~Engine() {
    http_.reset();
    stop_threads();
  }
  [[nodiscard]] Status run();
  void stop() {
    stopping_ = true;
    parts_.bus.wake();
  }

 private:
  struct SealedVerdict {
    std::string device;
    Bytes envelope;
  };
  struct SealedModel {
    Bytes envelope;
  };
  using Sealed = std::variant<SealedVerdict, SealedModel>;

  void handle(const BusConnected& connected);
  void handle(const BusDisconnected&);
  void handle(BusReceived received);
  void take_update(const std::string& device, const Bytes& piece);
  void take_status(const std::string& device, const Message& message);
  void handle(const BusPublished& published) { outbox_.on_published(published.id); }
  void handle(const BusPublishFailed& failed) { outbox_.on_failed(failed.id); }
  void handle(const BusWoken&) {}

  void tick(Time now);
  void collect_sealed();
  void offer_retained_model(Time now);
  void publish_telemetry(Time now);
  void publish_state();
  void publish_status(GatewayState state, const std::string& message);
  void show_verdicts(Time now);
  void publish_summaries(Time now);
  void follow_book();
  void keep_history();
  void send_answers();
  void announce_sensors();
  [[nodiscard]] HttpReply answer_http(std::string_view path) const;
  [[nodiscard]] std::vector<std::string> problems() const;
  [[nodiscard]] HistoryCollector::Totals totals() const;
  void notify_alive(Time now);
  [[nodiscard]] GatewayMetrics measure(Time now);
  void add_interval(GatewayMetrics& metrics, Time now);
  void push_sealed(Sealed sealed, std::size_t bytes);
  void stop_threads();
  void wind_down();

  GatewayParts parts_;
  LogSink& log_;
  const Clock& clock_;
  GatewayCounters counters_;
  RefusalLog ledger_;
  EnvelopeOpener opener_;
  ReplySigner voice_;
  PieceAssembler assembler_;
  Outbox outbox_;
  BoundedQueue<Sealed> sealed_;
  BoundedQueue<JudgedUpdate> judged_{kMaxUntold, SIZE_MAX};      ///< what is left out costs only detail
  BoundedQueue<Message> answers_{kMaxAnswers, kMaxAnswerBytes};  ///< to questions about history
  std::atomic<bool> stopping_{false};

  std::optional<HistoryThread> history_;
  ReplyThread replies_;
  std::optional<EvaluationThread> evaluation_;
  JudgeThread judging_;
  std::optional<ReferenceThread> references_;
  VerificationPool verifying_;

  Time started_{};
  Every book_{kBookInterval};
  Every expiry_;
  Every telemetry_;
  Every retained_;
  std::atomic<bool> connected_{false};
  std::atomic<std::int64_t> bus_alive_ms_{0};  ///< steady clock; when the thread of run() last moved
  mutable std::mutex metrics_mutex_;
  GatewayMetrics metrics_;           ///< as last published, for scrapers
  std::set<std::string> announced_;  ///< devices that Home Assistant knows
  std::optional<HomeAssistant> home_;
  std::unique_ptr<HttpListener> http_;
  bool failing_ = false;         ///< the store, as last published
  std::uint64_t abandoned_ = 0;  ///< transfers that were dropped unfinished
  std::optional<std::uint64_t> retained_version_;
  GatewayName name_;
  DevicePresence presence_;
  DeviceSummaries summaries_{kSummariesPerSecond};
  Every summaries_due_{kSummaryInterval};
  EventStream events_;
  bool started_told_ = false;
  HistoryCollector collector_;
  std::optional<Message> answer_;  ///< the next to be sent
  Every history_due_{kHistoryInterval};
  /// The counters at the last telemetry.
  struct Counted {
    std::uint64_t judged = 0;
    std::uint64_t commits = 0;
    std::uint64_t commit_microseconds = 0;
    Time at{};
  };
  Counted counted_;
};

Gateway::Engine::Engine(GatewayParts parts)
    : parts_(std::move(parts)),
      log_(parts_.log),
      clock_(parts_.clock),
      ledger_(log_),
      opener_(parts_.registry, parts_.verifier),
      voice_(parts_.signer, parts_.terms),
      assembler_(assembler_limits(parts_)),
      outbox_(parts_.bus, parts_.settings.limits.outbox_bytes),
      sealed_(SIZE_MAX, parts_.settings.limits.outbox_bytes),
      replies_(voice_, parts_.settings.replies.models_per_second,
               {.verdict =
                    [this](const std::string& device, Bytes envelope) {
                      const std::size_t size = envelope.size();
                      push_sealed(SealedVerdict{device, std::move(envelope)}, size);
                    },
                .model =
                    [this](Bytes envelope) {
                      const std::size_t size = envelope.size();
                      push_sealed(SealedModel{std::move(envelope)}, size);
                    }},
               counters_, clock_, log_),
      judging_(
          parts_.judge,
          {parts_.settings.limits.waiting_updates, parts_.settings.limits.waiting_bytes,
           parts_.settings.guard.reference_share},
          {.reply = [this](VerdictMessage reply) { replies_.reply(std::move(reply)); },
           .model =
               [this](SharedModel model) {
                 replies_.set_model(model);
                 if (evaluation_) evaluation_->offer(std::move(model));
               },
           .want_reference =
               parts_.reference == nullptr
                   ? std::function<void(SharedModel, std::uint64_t)>()
                   : [this](SharedModel model,
                            std::uint64_t due_since) { references_->request(std::move(model), due_since); },
           .refused = [this](const std::string& device,
                             const Refusal& refusal) { ledger_.note(device, refusal, clock_.steady()); },
           .judged =
               [this](const VerdictRecord& record, const DeviceRecord& device) {
                 (void)judged_.push({device.id, device.name, device.accepted, device.rejected, record.verdict,
                                     record.version, record.time_ms});
               }},
          counters_, clock_, log_),
      verifying_(worker_count(parts_.settings.limits),
                 {parts_.settings.limits.waiting_updates, parts_.settings.limits.waiting_bytes,
                  parts_.settings.limits.device_updates},
                 opener_,
                 {parts_.terms.fleet, parts_.terms.model_hash, parts_.dimension, largest_envelope(parts_)},
                 ledger_, [this](VerifiedUpdate update) { return judging_.submit(std::move(update)); }),
      expiry_(expiry_interval(parts_.settings.limits)),
      telemetry_(steady(parts_.settings.telemetry_interval)),
      retained_(steady(parts_.settings.replies.retained_model_interval)),
      name_{parts_.terms.fleet, parts_.settings.guard.name, parts_.software},
      events_(
          [this](const std::string& json) {
            return parts_.bus.publish({.topic = parts_.topics.events(), .payload = as_bytes(json)}).ok();
          },
          clock_) {
  if (parts_.settings.home_assistant_prefix) {
    home_.emplace(parts_.topics, name_, *parts_.settings.home_assistant_prefix);
  }
  for (const auto& [name, device] : parts_.judge.devices()) {
    summaries_.add(name, device.accepted, device.rejected, device.last_seen_ms);
  }
  if (parts_.history) {
    history_.emplace(
        std::move(parts_.history), parts_.settings.store.file.parent_path(),
        [this](const std::string& viewer, std::string json) {
          Message message{.topic = parts_.topics.answer(viewer), .payload = as_bytes(json)};
          const std::size_t size = message.payload.size();
          if (answers_.push(std::move(message), size)) parts_.bus.wake();
        },
        clock_, log_);
  }
  if (parts_.reference != nullptr) {
    references_.emplace(
        *parts_.reference, [this](ReferenceReady ready) { judging_.submit(std::move(ready)); }, log_);
  }
  if (parts_.measure) {
    evaluation_.emplace(
        parts_.measure, parts_.settings.evaluation->interval,
        [this](const EvaluationRecord& done) {
          counters_.test_error = done.test_error;
          counters_.evaluated_version = done.version;
          judging_.submit(done);
        },
        clock_, log_);
  }
}

Status Gateway::Engine::run() {
  started_ = counted_.at = clock_.steady();
  bus_alive_ms_ = milliseconds(started_);
  metrics_ = measure(started_);
  if (parts_.settings.metrics_listen) {
    TRY(http_, HttpListener::open(
                   *parts_.settings.metrics_listen,
                   [this](std::string_view path) { return answer_http(path); }, HttpListener::Limits()));
    log_.info("metrics on port " + std::to_string(http_->port()) + ", /metrics and /healthz");
    if (!http_->on_loopback()) log_.warning("/metrics is open to the network, without TLS and password");
  }
  judging_.start();
  TRY_STATUS(parts_.bus.subscribe(parts_.topics.all_updates()));
  TRY_STATUS(parts_.bus.subscribe_if_allowed(parts_.topics.all_device_statuses()));
  if (history_) TRY_STATUS(parts_.bus.subscribe_if_allowed(parts_.topics.all_questions()));
  TRY_STATUS(parts_.bus.start());
  while (!stopping_) {
    if (auto event = parts_.bus.next_event(clock_.steady() + kTick)) {
      std::visit([this](auto&& what) { handle(std::forward<decltype(what)>(what)); }, std::move(*event));
    }
    collect_sealed();
    tick(clock_.steady());
    bus_alive_ms_ = milliseconds(clock_.steady());
    if (connected_) outbox_.pump();
    if (connected_) send_answers();
  }
  wind_down();
  return {};
}

void Gateway::Engine::handle(const BusConnected& connected) {
  connected_ = true;
  retained_version_.reset();  // the broker may be a new one, which retains nothing
  log_.info("ready: connected to " + parts_.settings.broker.host + ":" +
            std::to_string(parts_.settings.broker.port) + " over " + connected.protocol + ", fleet '" +
            parts_.terms.fleet + "', guard " + parts_.settings.guard.name + ", model version " +
            std::to_string(counters_.version));
  publish_state();
  summaries_.all_due(clock_.steady());
  announced_.clear();
  if (home_) home_->announce_gateway();
  follow_book();  // devices may have left while this gateway was away
  if (!std::exchange(started_told_, true)) events_.tell("started", "", "");
  notify_ready();
}

void Gateway::Engine::handle(const BusDisconnected&) {  // the bus has logged why
  connected_ = false;
  outbox_.on_link_lost();
}

void Gateway::Engine::handle(BusReceived received) {
  const auto topic = parse_topic(received.message.topic);
  if (topic.ok() && topic->kind == TopicKind::kUpdate) {
    take_update(topic->device, received.message.payload);
  } else if (topic.ok() && topic->kind == TopicKind::kDeviceStatus) {
    take_status(topic->device, received.message);
  } else if (topic.ok() && topic->kind == TopicKind::kQuestion) {
    if (history_ && !received.message.retained) {
      history_->ask(topic->device, std::move(received.message.payload));
    }
  } else {
    ledger_.note("?", refuse(RefusalReason::kMalformed, "its topic names no device"), clock_.steady());
  }
}

void Gateway::Engine::take_update(const std::string& device, const Bytes& piece) {
  const Time now = clock_.steady();
  auto envelope = assembler_.accept(device, piece, now);
  if (!envelope) {
    ledger_.note(device, envelope.error(), now);
  } else if (envelope->has_value()) {
    verifying_.submit({device, std::move(**envelope)});
  }
}

void Gateway::Engine::take_status(const std::string& device, const Message& message) {
  if (!parts_.registry.is_enrolled(device)) return;
  const auto change = presence_.take(device, message.payload, message.retained);
  if (!change) return;
  summaries_.state_changed(device, change->state, clock_.steady());
  if (!change->kind.empty()) events_.tell(change->kind, device, change->message);
}

void Gateway::Engine::push_sealed(Sealed sealed, std::size_t bytes) {
  if (!sealed_.push(std::move(sealed), bytes)) ++counters_.replies_dropped;
  parts_.bus.wake();
}

void Gateway::Engine::collect_sealed() {
  while (auto sealed = sealed_.try_pop()) {
    if (auto* verdict = std::get_if<SealedVerdict>(&*sealed)) {
      if (!outbox_.add(parts_.topics.verdict(verdict->device), std::move(verdict->envelope))) {
        ++counters_.replies_dropped;
      }
    } else {
      outbox_.set({.topic = parts_.topics.model(),
                   .payload = std::move(std::get<SealedModel>(*sealed).envelope),
                   .retained = true});
    }
  }
}

void Gateway::Engine::tick(Time now) {
  if (book_.due(now) && parts_.registry.refresh()) follow_book();
  show_verdicts(now);
  if (history_due_.due(now)) keep_history();
  if (expiry_.due(now)) {
    if (const std::size_t dropped = assembler_.expire(now); dropped > 0) {
      abandoned_ += dropped;
      log_.info(std::to_string(dropped) + " unfinished updates were dropped after " +
                std::to_string(static_cast<int>(parts_.settings.limits.silence.count())) + " s of silence");
    }
  }
  if (const bool failing = counters_.store_failing; failing != failing_) {
    failing_ = failing;
    publish_state();
    events_.tell(failing ? "store-failing" : "store-works", "", "");
  }
  offer_retained_model(now);
  if (connected_ && summaries_due_.due(now)) publish_summaries(now);
  while (connected_ && home_) {
    auto message = home_->next(now);
    if (!message) break;
    outbox_.set(std::move(*message));
  }
  events_.tell_muted();
  if (telemetry_.due(now)) {
    publish_telemetry(now);
    notify_alive(now);
  }
}

void Gateway::Engine::offer_retained_model(Time now) {
  const SharedModel newest = replies_.model();
  if (!connected_ || newest == nullptr || retained_version_ == newest->version || !retained_.due(now)) return;
  retained_version_ = newest->version;
  replies_.publish_model();
}

void Gateway::Engine::publish_telemetry(Time now) {
  GatewayMetrics metrics = measure(now);
  add_interval(metrics, now);
  add_counters(metrics, counters_);
  {
    const std::lock_guard lock(metrics_mutex_);
    metrics_ = metrics;
  }
  outbox_.set({.topic = parts_.topics.gateway_metrics(),
               .payload = as_bytes(to_json(metrics)),
               .retained = true,
               .best_effort = true});
  for (const auto& [sender, count] : ledger_.take_senders()) {
    if (parts_.registry.is_enrolled(sender)) summaries_.refused(sender, count, now);
  }
  for (const auto& line : ledger_.take_lines()) events_.tell("refused", line.sender, line.text);
}

void Gateway::Engine::publish_state() {
  publish_status(failing_ ? GatewayState::kAlert : GatewayState::kReady,
                 failing_ ? "the store cannot be written; see the log" : "");
}

void Gateway::Engine::publish_status(GatewayState state, const std::string& message) {
  outbox_.set(
      {.topic = parts_.topics.gateway_status(),
       .payload = as_bytes(to_json(GatewayStatus{state, name_.fleet, name_.guard, name_.software, message})),
       .retained = true});
}

void Gateway::Engine::show_verdicts(Time now) {
  while (const auto update = judged_.try_pop()) {
    if (!parts_.registry.is_enrolled(update->device)) continue;
    collector_.add(*update);
    summaries_.judged(*update, now);
    if (!update->verdict.accepted) events_.tell("rejected", update->device, describe(update->verdict));
  }
}

void Gateway::Engine::publish_summaries(Time now) {
  while (auto due = summaries_.next(now, clock_.wall())) {
    outbox_.set({.topic = parts_.topics.device_summary(due->device),
                 .payload = as_bytes(due->json),
                 .retained = true,
                 .best_effort = true});
  }
}

HistoryCollector::Totals Gateway::Engine::totals() const {
  HistoryCollector::Totals totals;
  totals.version = counters_.version;
  totals.accepted = counters_.accepted;
  totals.rejected = counters_.rejected;
  totals.refused = ledger_.total();
  totals.delay_sum = counters_.delay_sum;
  if (const double error = counters_.test_error; error >= 0) totals.test_error = error;
  return totals;
}

void Gateway::Engine::keep_history() {
  if (!history_) return;
  const auto wall =
      std::chrono::duration_cast<std::chrono::milliseconds>(clock_.wall().time_since_epoch()).count();
  if (auto batch = collector_.close_step(wall, totals())) history_->add(std::move(*batch));
}

void Gateway::Engine::send_answers() {
  while (answer_ || (answer_ = answers_.try_pop())) {
    if (!parts_.bus.publish(*answer_).ok()) return;
    answer_.reset();
  }
}

/// Who is no longer in the book is taken back from those who watch: an empty retained message.
void Gateway::Engine::follow_book() {
  const auto enrolled = [this](std::string_view device) { return parts_.registry.is_enrolled(device); };
  presence_.forget_unless(enrolled);
  for (const std::string& gone : summaries_.forget_unless(enrolled)) {
    outbox_.set({.topic = parts_.topics.device_summary(gone), .payload = {}, .retained = true});
  }
  announce_sensors();
  judging_.submit(VotersChanged{});
}

void Gateway::Engine::announce_sensors() {
  if (!home_) return;
  std::set<std::string> enrolled;
  for (std::string& device : parts_.registry.enrolled_names()) {
    if (!announced_.contains(device)) home_->announce(device);
    enrolled.insert(std::move(device));
  }
  for (const std::string& device : announced_) {
    if (!enrolled.contains(device)) home_->withdraw(device);
  }
  announced_ = std::move(enrolled);
}

/// What keeps this gateway from its work. From any thread.
std::vector<std::string> Gateway::Engine::problems() const {
  std::vector<std::string> found;
  const Time now = clock_.steady();
  const auto hangs = [&](std::int64_t alive_ms) {
    return now - Time(std::chrono::milliseconds(alive_ms)) > kJudgeSilence;
  };
  if (!connected_) found.emplace_back("the broker is away");
  if (counters_.store_failing) found.emplace_back("the store cannot be written");
  if (hangs(counters_.judge_alive_ms)) found.emplace_back("the judging thread hangs");
  if (hangs(bus_alive_ms_)) found.emplace_back("the thread of the broker's messages hangs");
  return found;
}

HttpReply Gateway::Engine::answer_http(std::string_view path) const {
  if (path == "/metrics") {
    Scrape scrape;
    scrape.name = name_;
    {
      const std::lock_guard lock(metrics_mutex_);
      scrape.metrics = metrics_;
    }
    scrape.broker_connected = connected_;
    return {.type = kPrometheusType, .body = prometheus_text(counters_, scrape)};
  }
  if (path == "/healthz") {
    const auto found = problems();
    return {.status = found.empty() ? 200 : 503, .type = "application/json", .body = health_json(found)};
  }
  return {.status = 404, .body = "there are /metrics and /healthz\n"};
}

void Gateway::Engine::notify_alive(Time now) {
  const auto alive = Time(std::chrono::milliseconds(counters_.judge_alive_ms));
  if (now - alive < kJudgeSilence) notify_watchdog();
  notify_status("model version " + std::to_string(counters_.version) + ", " +
                std::to_string(counters_.accepted) + " accepted, " + std::to_string(counters_.rejected) +
                " rejected");
}

GatewayMetrics Gateway::Engine::measure(Time now) {
  GatewayMetrics metrics;
  metrics.fleet = name_.fleet;
  metrics.guard = name_.guard;
  metrics.rss_mb = resident_megabytes();
  metrics.time = clock_.wall();
  metrics.devices_connected = presence_.connected();
  if (const std::int64_t version = counters_.reference_version; version >= 0) {
    metrics.reference_version = static_cast<std::uint64_t>(version);
  }
  if (const std::int64_t came = counters_.reference_ms; came >= 0) {
    metrics.reference_age_seconds =
        std::chrono::duration<double>(now - Time(std::chrono::milliseconds(came))).count();
  }
  if (const auto space = disk_space(parts_.settings.store.file.parent_path())) {
    metrics.store_free_bytes = space->free_bytes;
    metrics.store_total_bytes = space->total_bytes;
  }
  metrics.devices = parts_.registry.enrolled();
  metrics.queue = verifying_.waiting() + judging_.waiting();
  metrics.inbox_bytes = assembler_.bytes();
  metrics.outbox_bytes = outbox_.bytes();
  metrics.abandoned = abandoned_;
  metrics.dropped_messages = parts_.bus.counters().dropped;
  metrics.uptime_seconds = std::chrono::duration<double>(now - started_).count();
  const auto refused = ledger_.counts();
  metrics.refused.assign(refused.begin(), refused.end());
  return metrics;
}

/// What happened since the last time that this was asked.
void Gateway::Engine::add_interval(GatewayMetrics& metrics, Time now) {
  const Counted before = counted_;
  counted_ = {counters_.accepted + counters_.rejected, counters_.commits, counters_.commit_microseconds, now};
  if (const double seconds = std::chrono::duration<double>(now - before.at).count(); seconds > 0) {
    metrics.updates_per_second = static_cast<double>(counted_.judged - before.judged) / seconds;
  }
  if (const std::uint64_t commits = counted_.commits - before.commits; commits > 0) {
    metrics.commit_ms = static_cast<double>(counted_.commit_microseconds - before.commit_microseconds) /
                        1000 / static_cast<double>(commits);
  }
}

/// In the order of the data, so that each finishes what the one before has handed on.
void Gateway::Engine::stop_threads() {
  verifying_.stop();
  if (references_) references_->stop();
  if (evaluation_) evaluation_->stop();
  judging_.stop();
  replies_.stop();
  show_verdicts(clock_.steady());
  if (history_) {
    if (auto batch = collector_.close_now(totals())) history_->add(std::move(*batch));
    history_->stop();
  }
}

/// What has arrived is judged, made durable and answered, as far as a few seconds allow.
void Gateway::Engine::wind_down() {
  log_.info("stopping");
  notify_stopping();
  events_.tell("stopping", "", "");
  stop_threads();
  collect_sealed();
  publish_telemetry(clock_.steady());
  publish_status(GatewayState::kDisconnected, "stopped by its owner");
  const Time deadline = clock_.steady() + kGoodbye;
  while (connected_ && !outbox_.empty() && clock_.steady() < deadline) {
    outbox_.pump();
    if (auto event = parts_.bus.next_event(clock_.steady() + kTick)) {
      if (std::holds_alternative<BusReceived>(*event)) continue;  // too late for this life
      std::visit([this](auto&& what) { handle(std::forward<decltype(what)>(what)); }, std::move(*event));
    }
  }
  parts_.bus.stop();
}

Gateway::Gateway(GatewayParts parts) : engine_(std::make_unique<Engine>(std::move(parts))) {}
Gateway::~Gateway() = default;

Status Gateway::run() {
  return engine_->run();
}

void Gateway::stop() {
  engine_->stop();
}

}  // namespace aflguard::gateway
