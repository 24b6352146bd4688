#include "gateway_server/telemetry/gateway_telemetry.h"

#include <utility>

#include "core/system/service_notify.h"
#include "core/verdict/verdict.h"
#include "gateway_server/telemetry/counted_metrics.h"

namespace aflguard::gateway {
namespace {

constexpr double kSummariesPerSecond = 50;                  // of all devices together
constexpr std::chrono::milliseconds kSummaryInterval(250);  // many at a time wake fewer threads
constexpr std::chrono::seconds kHistoryInterval(1);

Bytes as_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}
constexpr std::chrono::seconds kTakingBackInterval(2);
constexpr int kTakenBackAgain = 5;
constexpr std::size_t kMostGone = 100'000;

}  // namespace

GatewayTelemetry::GatewayTelemetry(TelemetryParts parts)
    : parts_(std::move(parts)),
      summaries_(kSummariesPerSecond),
      events_(
          [this](const std::string& json) {
            return parts_.bus.publish({.topic = parts_.topics.events(), .payload = as_bytes(json)}).ok();
          },
          parts_.clock),
      collector_(parts_.name, parts_.store_folder, parts_.counters, parts_.clock),
      health_(parts_.counters, parts_.clock),
      learning_(parts_.trusted_set_problem),
      server_(parts_.name, parts_.counters, health_),
      summaries_due_(kSummaryInterval),
      history_due_(kHistoryInterval),
      metrics_due_(parts_.interval),
      taking_back_due_(kTakingBackInterval) {
  if (parts_.home_assistant_prefix) home_.emplace(parts_.topics, parts_.name, *parts_.home_assistant_prefix);
  if (parts_.history) {
    history_.emplace(
        std::move(parts_.history), parts_.store_folder, [this] { parts_.bus.wake(); }, parts_.clock,
        parts_.log);
  }
}

GatewayTelemetry::~GatewayTelemetry() = default;

void GatewayTelemetry::add(const DeviceRecord& device) {
  summaries_.add(device.name, device.accepted, device.rejected, device.last_seen_ms);
}

Status GatewayTelemetry::start() {
  server_.show(metrics(parts_.clock.steady()));
  if (!parts_.metrics_listen) return {};
  return server_.open(*parts_.metrics_listen, parts_.log);
}

void GatewayTelemetry::on_connected() {
  health_.set_connected(true);
  publish_state();
  summaries_.all_due(parts_.clock.steady());
  if (home_) home_->broker_changed();
  follow_book({.everything = true});  // devices may have left while this gateway was away
  if (!std::exchange(start_announced_, true)) events_.tell("started", "", "");
}

bool GatewayTelemetry::take_status(const std::string& device, const Message& message) {
  if (!parts_.registry.is_enrolled(device)) {
    // A last word that the broker kept, or a last will after the revocation.
    if (!message.payload.empty() && gone_.size() < kMostGone) gone_.try_emplace(device, kTakenBackAgain);
    return false;
  }
  if (parts_.alerts) {
    const std::string_view text(reinterpret_cast<const char*>(message.payload.data()),
                                message.payload.size());
    if (const auto status = read_device_status(text)) parts_.alerts->status(device, *status);
  }
  const auto taken = presence_.take(device, message.payload, message.retained);
  if (taken.change) {
    summaries_.state_changed(device, taken.change->state, parts_.clock.steady());
    if (!taken.change->kind.empty()) events_.tell(taken.change->kind, device, taken.change->message);
  }
  return taken.wants_offer;
}

void GatewayTelemetry::take_question(const std::string& viewer, Message message) {
  if (history_ && !message.retained) history_->ask(viewer, std::move(message.payload));
}

void GatewayTelemetry::show_verdict(const JudgedUpdate& update, Time now) {
  if (!parts_.registry.is_enrolled(update.device)) return;
  if (history_) history_->add(update);
  summaries_.judged(update, now);
  if (parts_.alerts) parts_.alerts->suspicious(update.device, summaries_.is_suspicious(update.device));
  if (!update.verdict.accepted) events_.tell("rejected", update.device, describe(update.verdict));
}

void GatewayTelemetry::follow_book(const BookNews& news) {
  for (const BookChange& change : news.devices) {
    if (change.revoked) {
      forget(change.device);
    } else if (home_) {
      home_->add(change.device);
    }
  }
  if (!news.everything) return;
  const LiveRegistry::Names names = parts_.registry.enrolled_names();
  const auto enrolled = [&names](std::string_view device) { return names.contains(device); };
  presence_.forget_unless(enrolled);
  for (const std::string& gone : summaries_.forget_unless(enrolled)) {
    take_back_summary(gone);
    take_back(gone);
    if (parts_.alerts) parts_.alerts->forget(gone);
    gone_[gone] = kTakenBackAgain;
  }
  std::erase_if(gone_, [&](const auto& device) { return enrolled(device.first); });
  if (home_) home_->follow(names);
}

void GatewayTelemetry::forget(const std::string& device) {
  presence_.forget(device);
  if (summaries_.forget(device)) take_back_summary(device);
  if (home_) home_->remove(device);
  if (parts_.alerts) parts_.alerts->forget(device);
  take_back(device);
  gone_[device] = kTakenBackAgain;
}

void GatewayTelemetry::take_back_summary(const std::string& device) {
  parts_.retain({.topic = parts_.topics.device_summary(device), .payload = {}, .retained = true});
}

void GatewayTelemetry::take_back(const std::string& device) {
  parts_.retain(
      {.topic = parts_.topics.device_status(device), .payload = {}, .retained = true, .best_effort = true});
}

void GatewayTelemetry::take_back_again(Time now) {
  if (gone_.empty() || !taking_back_due_.due(now)) return;
  for (auto& [device, times] : gone_) {
    take_back(device);
    --times;
  }
  std::erase_if(gone_, [](const auto& device) { return device.second <= 0; });
}

void GatewayTelemetry::settings_changed(const std::string& guard, const std::string& text) {
  parts_.name.guard = guard;
  collector_.set_guard(guard);
  learning_.start_again();
  if (health_.connected()) publish_state();
  events_.tell("settings", "", text);
}

void GatewayTelemetry::tick(Time now) {
  if (history_due_.due(now) && history_) history_->close_step(totals());
  follow_store();
  follow_learning();
  if (health_.connected()) {
    if (summaries_due_.due(now)) publish_summaries(now);
    publish_sensors(now);
    take_back_again(now);
  }
  events_.tell_muted();
  if (metrics_due_.due(now)) {
    publish_metrics(now);
    notify_service();
  }
}

void GatewayTelemetry::follow_store() {
  std::string problem = parts_.counters.store_report.text();
  if (problem.empty() && parts_.counters.store_failing) {
    problem = "the store cannot be written; see the log";
  }
  if (problem == store_problem_) return;
  const bool began = store_problem_.empty();
  store_problem_ = problem;
  publish_state();
  if (problem.empty()) {
    events_.tell("store-works", "", "");
  } else if (began) {
    events_.tell("store-failing", "", "");
  }
}

void GatewayTelemetry::follow_learning() {
  const auto before = learning_.troubles();
  if (!learning_.follow(parts_.counters)) return;
  for (const auto& [kind, text] : learning_.troubles()) {
    if (before.contains(kind)) continue;
    parts_.log.warning(text);
    events_.tell("trouble", "", text);
  }
  for (const auto& [kind, text] : before) {
    if (!learning_.troubles().contains(kind)) events_.tell("trouble-over", "", std::string(kind));
  }
  if (health_.connected()) publish_state();
}

/// A poor trusted set is a warning: the gateway works, as well as it can. The others are alarms.
void GatewayTelemetry::publish_state() {
  if (!store_problem_.empty()) return publish_status(GatewayState::kAlert, store_problem_);
  const auto& troubles = learning_.troubles();
  for (const std::string_view kind : {LearningWatch::kReference, LearningWatch::kRisingError}) {
    const auto found = troubles.find(kind);
    if (found != troubles.end()) return publish_status(GatewayState::kAlert, found->second);
  }
  publish_status(GatewayState::kReady, troubles.empty() ? "" : troubles.begin()->second);
}

void GatewayTelemetry::publish_status(GatewayState state, const std::string& message) {
  const GatewayName& name = parts_.name;
  parts_.retain(
      {.topic = parts_.topics.gateway_status(),
       .payload = as_bytes(to_json(GatewayStatus{state, name.fleet, name.guard, name.software, message})),
       .retained = true});
}

void GatewayTelemetry::publish_summaries(Time now) {
  while (auto due = summaries_.next(now, parts_.clock.wall())) {
    parts_.retain({.topic = parts_.topics.device_summary(due->device),
                   .payload = as_bytes(due->json),
                   .retained = true,
                   .best_effort = true});
  }
}

void GatewayTelemetry::publish_sensors(Time now) {
  while (home_) {
    auto message = home_->next(now);
    if (!message) return;
    parts_.retain(std::move(*message));
  }
}

void GatewayTelemetry::send_alerts(const GatewayMetrics& known) {
  FleetAlerts& alerts = *parts_.alerts;
  for (const std::string_view kind :
       {LearningWatch::kTrustedSet, LearningWatch::kRisingError, LearningWatch::kReference}) {
    const auto found = learning_.troubles().find(kind);
    alerts.trouble(kind, found == learning_.troubles().end() ? std::string() : found->second);
  }
  alerts.trouble("store-failing", store_problem_);
  if (known.store_free_bytes && known.store_total_bytes.value_or(0) > 0) {
    alerts.disk(static_cast<double>(*known.store_free_bytes) / static_cast<double>(*known.store_total_bytes));
  }
  alerts.tick();
}

void GatewayTelemetry::publish_metrics(Time now) {
  GatewayMetrics known = metrics(now);
  if (parts_.alerts) send_alerts(known);
  collector_.add_interval(known, now);
  add_counters(known, parts_.counters);
  parts_.retain({.topic = parts_.topics.gateway_metrics(),
                 .payload = as_bytes(to_json(known)),
                 .retained = true,
                 .best_effort = true});
  server_.show(std::move(known));
  for (const auto& [sender, count] : parts_.refusals.take_senders()) {
    if (parts_.registry.is_enrolled(sender)) summaries_.refused(sender, count, now);
  }
  for (const auto& line : parts_.refusals.take_lines()) events_.tell("refused", line.sender, line.text);
}

/// For systemd, which restarts a gateway that hangs.
void GatewayTelemetry::notify_service() {
  if (!health_.judging_hangs()) notify_watchdog();
  notify_status("model version " + std::to_string(parts_.counters.version) + ", " +
                std::to_string(parts_.counters.accepted) + " accepted, " +
                std::to_string(parts_.counters.rejected) + " rejected");
}

GatewayMetrics GatewayTelemetry::metrics(Time now) const {
  GatewayMetrics known = collector_.collect(now, parts_.load());
  known.devices = parts_.registry.enrolled();
  known.devices_connected = presence_.connected();
  known.devices_lost = presence_.count(DeviceState::kLost);
  known.devices_alert = presence_.count(DeviceState::kAlert);
  known.devices_suspicious = summaries_.suspicious();
  for (const auto& [kind, text] : learning_.troubles()) known.troubles.emplace_back(kind);
  const auto refused = parts_.refusals.counts();
  known.refused.assign(refused.begin(), refused.end());
  return known;
}

HistoryCollector::Totals GatewayTelemetry::totals() const {
  HistoryCollector::Totals totals;
  totals.version = parts_.counters.version;
  totals.accepted = parts_.counters.accepted;
  totals.rejected = parts_.counters.rejected;
  totals.refused = parts_.refusals.total();
  totals.delay_sum = parts_.counters.delay_sum;
  if (const double error = parts_.counters.test_error; error >= 0) totals.test_error = error;
  return totals;
}

void GatewayTelemetry::send_answers() {
  while (history_) {
    if (!answer_) {
      auto next = history_->next_answer();
      if (!next) return;
      answer_ = Message{.topic = parts_.topics.answer(next->viewer), .payload = as_bytes(next->json)};
    }
    if (!parts_.bus.publish(*answer_).ok()) return;
    answer_.reset();
  }
}

void GatewayTelemetry::announce_stop() {
  events_.tell("stopping", "", "");
}

void GatewayTelemetry::stop_history() {
  if (history_) history_->stop(totals());
}

void GatewayTelemetry::publish_goodbye(Time now) {
  publish_metrics(now);
  publish_status(GatewayState::kDisconnected, "stopped by its owner");
}

}  // namespace aflguard::gateway
