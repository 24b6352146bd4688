#include "gateway_server/gateway.h"

#include <atomic>
#include <optional>
#include <thread>

#include "core/base/bounded_queue.h"
#include "core/base/fair_queue.h"
#include "core/system/service_notify.h"
#include "core/telemetry/program_facts.h"
#include "gateway_server/replies/offer_pace.h"
#include "gateway_server/replies/outbox.h"
#include "gateway_server/rival_watch.h"
#include "gateway_server/telemetry/gateway_telemetry.h"

namespace aflguard::gateway {
namespace {

using Time = std::chrono::steady_clock::time_point;

constexpr std::chrono::milliseconds kTick(200);
constexpr std::chrono::seconds kBookInterval(1);
constexpr std::chrono::seconds kGoodbye(3);
constexpr std::chrono::seconds kOfferInterval(2);
/// Of one topic, only the latest messages matter; who sends more loses its own older ones.
constexpr FairQueueLimits kOtherMessages = {
    .max_items = 65'536, .max_cost = 64u << 20, .max_items_per_key = 64};

std::chrono::steady_clock::duration steady(GatewaySettings::Seconds seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(seconds);
}

}  // namespace

class Gateway::Loop final {
 public:
  explicit Loop(GatewayParts parts);
  ~Loop() {
    telemetry_.close_port();
    stop_receiving();
    stop_threads();
  }
  [[nodiscard]] Status run();
  [[nodiscard]] bool came_second() const { return !outcome_.ok(); }
  [[nodiscard]] const std::optional<ChosenModel>& chosen() const { return rollout_.chosen(); }
  void stop() {
    stopping_ = true;
    inbox_.push_first(BusWoken{});
  }
  void change(GatewayChange change) {
    changes_.push_always(std::move(change));
    inbox_.push_first(BusWoken{});
  }

 private:
  [[nodiscard]] PipelineParts pipeline_parts();
  [[nodiscard]] TelemetryParts telemetry_parts();
  [[nodiscard]] RolloutParts rollout_parts();
  [[nodiscard]] GatewayLoad load() const;

  // The receiving thread: pieces of updates into the pipeline, everything else into inbox_.
  void receive();
  void sort(BusEvent event);
  void note_dropped(Time now);
  void note_rival();

  void handle(const BusConnected& connected);
  void handle(const BusDisconnected& disconnected);
  void handle(BusReceived received);
  void handle(const BusPublished& published) { outbox_.on_published(published.id); }
  void handle(const BusPublishFailed& failed) { outbox_.on_failed(failed.id); }
  void handle(const BusWoken&) {}
  void handle(BusEvent event) {
    std::visit([this](auto&& what) { handle(std::forward<decltype(what)>(what)); }, std::move(event));
  }

  void tick(Time now);
  void take_changes();
  void collect_sealed();
  void show_verdicts(Time now);
  void retain_model(Time now);
  void stop_receiving();
  void stop_threads();
  void wind_down();

  GatewayParts parts_;
  GatewayCounters counters_;
  RefusalLog refusals_;
  Outbox outbox_;
  UpdatePipeline pipeline_;
  GatewayTelemetry telemetry_;
  RolloutDesk rollout_;
  OfferPace offers_{kOfferInterval};
  std::atomic<bool> stopping_{false};
  BoundedQueue<GatewayChange> changes_{SIZE_MAX, SIZE_MAX};
  FairQueue<BusEvent> inbox_{kOtherMessages};  ///< for the thread of run()
  std::atomic<bool> receiving_ends_{false};
  std::thread receiving_;
  std::atomic<std::size_t> outbox_bytes_{0};
  bool connected_ = false;
  RivalWatch rivals_;
  Status outcome_;  ///< of run(): fails where another gateway was there first
  Every book_due_{kBookInterval};
  Every paused_due_{kBookInterval};
  Every dropped_due_{kBookInterval};
  Every model_due_;
  std::optional<std::uint64_t> retained_version_;  ///< of the model that the broker was given last
};

Gateway::Loop::Loop(GatewayParts parts)
    : parts_(std::move(parts)),
      refusals_(parts_.log),
      outbox_(parts_.bus, parts_.settings.limits.outbox_bytes),
      pipeline_(pipeline_parts()),
      telemetry_(telemetry_parts()),
      rollout_(rollout_parts()),
      model_due_(steady(parts_.settings.replies.retained_model_interval)) {
  for (const auto& [name, device] : parts_.judge.devices()) telemetry_.add(device);
}

PipelineParts Gateway::Loop::pipeline_parts() {
  return {.settings = parts_.settings,
          .terms = parts_.terms,
          .dimension = parts_.dimension,
          .registry = parts_.registry,
          .verifier = parts_.verifier,
          .signer = parts_.signer,
          .judge = parts_.judge,
          .reference = parts_.reference,
          .measure = parts_.measure,
          .paused = &parts_.paused,
          .counters = counters_,
          .refusals = refusals_,
          .wake = [this] { inbox_.push_first(BusWoken{}); },
          .outbox_bytes = [this] { return outbox_bytes_.load(); },
          .clock = parts_.clock,
          .log = parts_.log};
}

TelemetryParts Gateway::Loop::telemetry_parts() {
  return {.topics = parts_.topics,
          .name = {parts_.terms.fleet, parts_.settings.guard.name, parts_.software},
          .store_folder = parts_.settings.store.file.parent_path(),
          .interval = steady(parts_.settings.telemetry_interval),
          .metrics_listen = parts_.settings.metrics_listen,
          .home_assistant_prefix = parts_.settings.home_assistant_prefix,
          .trusted_set_problem = parts_.trusted_set_problem,
          .alerts = std::move(parts_.alerts),
          .history = std::move(parts_.history),
          .bus = parts_.bus,
          .retain = [this](Message message) { outbox_.set(std::move(message)); },
          .load = [this] { return load(); },
          .registry = parts_.registry,
          .counters = counters_,
          .refusals = refusals_,
          .clock = parts_.clock,
          .log = parts_.log};
}

RolloutParts Gateway::Loop::rollout_parts() {
  return {.folder = parts_.settings.models_folder(),
          .fleet = parts_.terms.fleet,
          .current = parts_.model,
          .release = parts_.release,
          .devices = parts_.registry,
          .is_enrolled = [this](std::string_view device) { return parts_.registry.is_enrolled(device); },
          .verifier = parts_.verifier,
          .bus = parts_.bus,
          .topics = parts_.topics,
          .publish = [this](Message message) { outbox_.set(std::move(message)); },
          .try_model = parts_.try_model,
          .clock = parts_.clock,
          .log = parts_.log};
}

GatewayLoad Gateway::Loop::load() const {
  return {.waiting = pipeline_.waiting(),
          .inbox_bytes = pipeline_.inbox_bytes(),
          .outbox_bytes = outbox_.bytes(),
          .abandoned = pipeline_.abandoned(),
          .dropped_messages = parts_.bus.counters().dropped};
}

Status Gateway::Loop::run() {
  TRY_STATUS(telemetry_.start());
  pipeline_.start();
  TRY_STATUS(parts_.bus.subscribe(parts_.topics.all_updates()));
  TRY_STATUS(parts_.bus.subscribe_if_allowed(parts_.topics.all_device_statuses()));
  if (telemetry_.answers_questions()) {
    TRY_STATUS(parts_.bus.subscribe_if_allowed(parts_.topics.all_questions()));
  }
  TRY_STATUS(rollout_.start());
  TRY_STATUS(parts_.bus.start());
  receiving_ = std::thread([this] { receive(); });
  while (!stopping_ && !rollout_.chosen()) {
    if (auto event = inbox_.pop_until(parts_.clock.steady() + kTick)) handle(std::move(*event));
    collect_sealed();
    tick(parts_.clock.steady());
    telemetry_.note_alive();
    if (!connected_) continue;
    outbox_.pump();
    telemetry_.send_answers();
  }
  if (outcome_.ok()) {
    wind_down();
  } else {  // without a farewell: the session and the topics are the other gateway's
    stop_receiving();
    parts_.bus.stop();
    stop_threads();
  }
  return outcome_;
}

/// Nothing in here waits for a publish: the broker's connection may wait for this thread before it takes one.
void Gateway::Loop::receive() {
  while (!receiving_ends_) {
    if (auto event = parts_.bus.next_event(parts_.clock.steady() + kTick)) sort(std::move(*event));
    const Time now = parts_.clock.steady();
    pipeline_.tick(now);
    if (dropped_due_.due(now)) note_dropped(now);
  }
}

void Gateway::Loop::sort(BusEvent event) {
  auto* received = std::get_if<BusReceived>(&event);
  if (received == nullptr) return inbox_.push_first(std::move(event));
  const auto topic = parse_topic(received->message.topic);
  if (topic.ok() && topic->kind == TopicKind::kUpdate) {
    return pipeline_.accept(topic->device, received->message.payload);
  }
  const std::string key = received->message.topic;
  const std::size_t bytes = received->message.payload.size();
  (void)inbox_.push(key, std::move(event), bytes);  // what is left out, a later status says again
}

void Gateway::Loop::note_dropped(Time now) {
  for (const auto& [text, count] : parts_.bus.take_dropped()) {
    const auto topic = parse_topic(text);
    refusals_.note(topic.ok() && !topic->device.empty() ? topic->device : "?",
                   refuse(RefusalReason::kOverloaded,
                          std::to_string(count) + " messages came faster than they can be read"),
                   now, count);
  }
}

void Gateway::Loop::handle(const BusConnected& connected) {
  connected_ = true;
  rivals_.on_connected(parts_.clock.steady());
  retained_version_.reset();  // the broker may be a new one, which retains nothing
  parts_.log.info("ready: connected to " + parts_.settings.broker.host + ":" +
                  std::to_string(parts_.settings.broker.port) + " over " + connected.protocol + ", fleet '" +
                  parts_.terms.fleet + "', guard " + parts_.settings.guard.name + ", model version " +
                  std::to_string(counters_.version));
  parts_.log.fact(to_line(ReadyFact{parts_.terms.fleet, "gateway"}));
  telemetry_.on_connected();
  rollout_.on_connected();
  notify_ready();
}

void Gateway::Loop::handle(const BusDisconnected& disconnected) {  // the bus has logged why
  connected_ = false;
  if (disconnected.taken_over) note_rival();
  telemetry_.on_disconnected();
  rollout_.on_disconnected();
  outbox_.on_link_lost();
}

void Gateway::Loop::note_rival() {
  const std::string what =
      "another gateway connected to this broker with the same certificate: its folder was copied, or it runs "
      "twice";
  if (!rivals_.came_second(parts_.clock.steady())) {
    return parts_.log.error(what + "; this one was first and goes on; stop the other one");
  }
  outcome_ = Error{ErrorKind::kUnavailable,
                   what + "; this one came second and stops; give it another fleet, or stop the other one"};
  stopping_ = true;
}

void Gateway::Loop::handle(BusReceived received) {
  const auto topic = parse_topic(received.message.topic);
  if (topic.ok() && topic->kind == TopicKind::kDeviceStatus) {
    const bool asks = telemetry_.take_status(topic->device, received.message);
    if (asks && offers_.due(topic->device, parts_.clock.steady())) pipeline_.offer(topic->device);
  } else if (topic.ok() && topic->kind == TopicKind::kQuestion) {
    telemetry_.take_question(topic->device, std::move(received.message));
  } else if (topic.ok() && (topic->kind == TopicKind::kRelease || topic->kind == TopicKind::kReleasePiece ||
                            topic->kind == TopicKind::kTrial)) {
    rollout_.take(topic->kind, topic->device, received.message);
  } else {
    refusals_.note("?", refuse(RefusalReason::kMalformed, "its topic names no device"),
                   parts_.clock.steady());
  }
}

void Gateway::Loop::collect_sealed() {
  while (outbox_.has_room()) {
    auto sealed = pipeline_.next_sealed();
    if (!sealed) break;
    if (sealed->device.empty()) {
      outbox_.set({.topic = parts_.topics.model(), .payload = std::move(sealed->envelope), .retained = true});
    } else if (!outbox_.add(parts_.topics.verdict(sealed->device), std::move(sealed->envelope),
                            std::move(sealed->before))) {
      ++counters_.replies_dropped;
    }
  }
  outbox_bytes_ = outbox_.bytes();
}

void Gateway::Loop::take_changes() {
  while (auto change = changes_.try_pop()) {
    outbox_.set_limit(change->pipeline.limits.outbox_bytes);
    model_due_.set_interval(steady(change->pipeline.replies.retained_model_interval));
    retained_version_.reset();  // the retained model says how to train
    pipeline_.change(std::move(change->pipeline));
    telemetry_.settings_changed(change->guard, change->text);
  }
}

void Gateway::Loop::tick(Time now) {
  take_changes();
  if (book_due_.due(now)) {
    if (auto news = parts_.registry.refresh()) {
      telemetry_.follow_book(*news);
      pipeline_.voters_changed(std::move(*news));
    }
  }
  if (paused_due_.due(now)) {
    for (const std::string& device : parts_.paused.refresh()) pipeline_.offer(device);
  }
  show_verdicts(now);
  retain_model(now);
  rollout_.tick(now);
  telemetry_.tick(now);
}

void Gateway::Loop::show_verdicts(Time now) {
  while (const auto update = pipeline_.next_judged()) telemetry_.show_verdict(*update, now);
}

void Gateway::Loop::retain_model(Time now) {
  const SharedModel newest = pipeline_.model();
  if (!connected_ || newest == nullptr || retained_version_ == newest->version || !model_due_.due(now))
    return;
  retained_version_ = newest->version;
  pipeline_.seal_model();
}

void Gateway::Loop::stop_receiving() {
  receiving_ends_ = true;
  parts_.bus.wake();
  if (receiving_.joinable()) receiving_.join();
}

void Gateway::Loop::stop_threads() {
  pipeline_.stop();
  show_verdicts(parts_.clock.steady());
  telemetry_.stop_history();
}

/// What has arrived is judged, made durable and answered, as far as a few seconds allow.
void Gateway::Loop::wind_down() {
  parts_.log.info(rollout_.chosen() ? "changing over to model " + rollout_.chosen()->name : "stopping");
  if (!rollout_.chosen()) notify_stopping();
  telemetry_.announce_stop();
  stop_receiving();
  stop_threads();
  collect_sealed();
  telemetry_.publish_goodbye(parts_.clock.steady());
  const Time deadline = parts_.clock.steady() + kGoodbye;
  while (connected_ && !outbox_.empty() && parts_.clock.steady() < deadline) {
    outbox_.pump();
    collect_sealed();
    auto event = inbox_.try_pop();  // what was sorted before receiving ended
    if (!event) event = parts_.bus.next_event(parts_.clock.steady() + kTick);
    if (event && !std::holds_alternative<BusReceived>(*event)) handle(std::move(*event));  // else: too late
  }
  parts_.bus.stop();
}

Gateway::Gateway(GatewayParts parts) : loop_(std::make_unique<Loop>(std::move(parts))) {}
Gateway::~Gateway() = default;

Status Gateway::run() {
  return loop_->run();
}

bool Gateway::came_second() const {
  return loop_->came_second();
}

const std::optional<ChosenModel>& Gateway::chosen() const {
  return loop_->chosen();
}

void Gateway::stop() {
  loop_->stop();
}

void Gateway::change(GatewayChange change) {
  loop_->change(std::move(change));
}

}  // namespace aflguard::gateway
