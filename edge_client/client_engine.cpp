#include "edge_client/client_engine.h"

#include <algorithm>

#include "core/base/rfc3339.h"
#include "core/envelope/message_codec.h"
#include "core/system/process_memory.h"
#include "edge_client/receiving/verdict_text.h"
#include "edge_client/sending/waiting_update.h"

namespace aflguard::edge {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Nothing is due: events come whenever they come.
constexpr seconds kIdle(60);
constexpr seconds kBetweenStatuses(1);
/// Figures change with every update; a fleet of a thousand shall not drown its broker in them.
constexpr seconds kBetweenFigures(10);
constexpr seconds kBetweenRefusalLogs(10);
constexpr std::chrono::hours kCertificateWarning(14 * 24);

}  // namespace

ClientEngine::ClientEngine(EngineSettings settings, TrainingSchedule schedule, const FleetTopics& topics,
                           const EngineParts& parts)
    : settings_(std::move(settings)),
      schedule_(std::move(schedule)),
      parts_(parts),
      inbox_(settings_.terms, parts.opener),
      update_topic_(topics.update(settings_.terms.device)),
      verdict_topic_(topics.verdict(settings_.terms.device)),
      model_topic_(topics.model()),
      status_topic_(topics.device_status(settings_.terms.device)),
      retries_(seconds(5), seconds(60), settings_.jitter_seed) {
  status_.device = settings_.terms.device;
  status_.software = settings_.software;
  status_.certificate_until = settings_.certificate_until;
  status_.sequence = parts_.spool.next_sequence() - 1;
  status_.accepted = status_.rejected = status_.refused = status_.samples = 0;
}

Status ClientEngine::start() {
  for (const std::string& warning : parts_.spool.warnings()) parts_.log.warning(warning);
  if (auto waiting = parts_.spool.take_waiting()) TRY_STATUS(take_up(std::move(*waiting)));
  TRY_STATUS(parts_.bus.subscribe(verdict_topic_));
  if (!outgoing_) fetch_model(0);
  return parts_.bus.start();
}

Status ClientEngine::take_up(SpooledUpdate waiting) {
  const std::uint64_t sequence = waiting.sequence;
  const std::string name = "update " + std::to_string(sequence);
  const auto update =
      open_waiting_update(std::move(waiting), settings_.terms, parts_.sealer.public_key(), parts_.verifier);
  if (!update.ok()) {
    parts_.log.warning(name + ", which waited for its verdict since the last run, is dropped (" +
                       std::string(to_string(update.error().reason)) + "): " + update.error().message +
                       "; training goes on with the next one");
    parts_.spool.finish(sequence);
    return {};
  }
  if (update->key() == parts_.sealer.key_id()) {
    parts_.log.info(name + " waits for its verdict since the last run");
    begin_sending(sequence, Bytes(update->envelope().begin(), update->envelope().end()));
    return {};
  }
  // The gateway may have forgotten the former key, and judges one number once whichever key has signed it.
  // The file stays as it is: it holds the same payload, and the next start comes by here again.
  const Payload payload{update->type(), Bytes(update->bytes().begin(), update->bytes().end())};
  TRY(SealedEnvelope envelope, parts_.sealer.seal(payload));
  parts_.log.info(name +
                  " waits for its verdict since the last run; it is signed anew, with this device's new key");
  begin_sending(sequence, std::move(envelope).release());
  return {};
}

void ClientEngine::handle(BusEvent event) {
  const Time now = parts_.clock.steady();
  if (auto* connected = std::get_if<BusConnected>(&event)) on_connected(*connected);
  if (std::holds_alternative<BusDisconnected>(event)) on_disconnected();
  if (auto* received = std::get_if<BusReceived>(&event)) on_received(std::move(received->message));
  if (const auto* published = std::get_if<BusPublished>(&event)) {
    if (published->id == goodbye_) goodbye_ = 0;
    if (outgoing_) outgoing_->published(published->id, now);
  }
  if (const auto* failed = std::get_if<BusPublishFailed>(&event)) {
    if (failed->id == goodbye_) goodbye_ = 0;
    if (outgoing_) outgoing_->failed(failed->id);
  }
}

ClientEngine::Time ClientEngine::step() {
  const Time now = parts_.clock.steady();
  Time next = now + kIdle;
  next = std::min(next, unsaved_ ? save_when_due(now) : next);
  if (!unsaved_ && !outgoing_) next = std::min(next, train_when_due(now));
  if (outgoing_) next = std::min(next, send_when_due(now));
  return std::min(next, publish_status_when_due(parts_.clock.steady()));
}

// The connection.

void ClientEngine::on_connected(const BusConnected& event) {
  parts_.log.info("connected by " + event.protocol);
  connected_ = true;
  status_published_ = false;
  if (outgoing_) {
    outgoing_->connected(parts_.clock.steady());
  } else if (!unsaved_ && !fetch_) {
    fetch_model(model_ ? model_->version : 0);  // the fleet went on meanwhile
  }
  if (fetch_) fetch_->started = parts_.clock.steady();
}

void ClientEngine::on_disconnected() {
  connected_ = false;
  if (outgoing_) outgoing_->link_lost();
  check_certificate();
}

void ClientEngine::on_received(Message message) {
  if (message.topic == verdict_topic_) {
    on_verdict_piece(message.payload);
  } else if (message.topic == model_topic_) {
    on_model(std::move(message.payload));
  }
}

// Models.

void ClientEngine::fetch_model(std::uint64_t at_least) {
  fetch_ = Fetch{at_least, parts_.clock.steady()};
  // Subscribing brings the model that the broker keeps, and newer ones until we unsubscribe.
  if (const Status status = parts_.bus.subscribe(model_topic_); !status.ok()) {
    parts_.log.error(status.error().message);
  }
}

void ClientEngine::on_model(Bytes envelope) {
  if (!fetch_) return;  // it was on its way when we unsubscribed
  auto model = inbox_.take_model(std::move(envelope));
  if (!model.ok()) return refused(model.error());
  clear(Alert::kModel);
  if (model->version < fetch_->at_least) return;
  adopt(std::move(*model));
}

void ClientEngine::adopt(ModelMessage model) {
  clear(Alert::kModel);
  if (!model_ || model_->version != model.version) {
    parts_.log.debug("model version " + std::to_string(model.version));
  }
  model_ = std::move(model);
  model_time_ = parts_.clock.steady();
  status_.version = model_->version;
  ++figures_;
  if (fetch_) parts_.bus.unsubscribe(model_topic_);
  fetch_.reset();
}

// Verdicts.

void ClientEngine::on_verdict_piece(std::span<const std::byte> piece) {
  auto verdict = inbox_.take_verdict_piece(piece, parts_.clock.steady());
  if (!verdict.ok()) return refused(verdict.error());
  if (*verdict) on_verdict(std::move(**verdict));
}

void ClientEngine::on_verdict(ReceivedVerdict verdict) {
  const VerdictMessage& message = verdict.message;
  parts_.spool.raise_sequence(message.highest_sequence);
  // Somebody used the number of an update that is not even saved (this board's card was copied): a new one.
  if (unsaved_ && unsaved_->sequence < parts_.spool.next_sequence()) unsaved_.reset();
  if (!outgoing_ || message.sequence != outgoing_->sequence()) {
    parts_.log.debug("verdict " + std::to_string(message.sequence) + " again, for no update that waits");
    return;
  }
  if (message.reason == static_cast<std::uint8_t>(RefusalReason::kOverloaded)) {
    parts_.log.warning("the gateway has no room for update " + std::to_string(message.sequence) +
                       " now; it goes again later");
    return outgoing_->ask_again_later(parts_.clock.steady());
  }
  finish_update(message);
  take_model_of(std::move(verdict));
}

void ClientEngine::finish_update(const VerdictMessage& verdict) {
  parts_.spool.finish(verdict.sequence);
  outgoing_.reset();
  ++*(verdict.accepted ? status_.accepted : status_.rejected);
  status_.verdict = LastVerdict{verdict.accepted, reason_name(verdict.reason), verdict.delay};
  ++figures_;
  parts_.log.info(verdict_line(verdict));
}

void ClientEngine::take_model_of(ReceivedVerdict verdict) {
  if (verdict.model_refusal) refused(*verdict.model_refusal);
  VerdictMessage& message = verdict.message;
  if (message.model) return adopt(std::move(*message.model));
  if (model_ && model_->version == message.version) {
    model_time_ = parts_.clock.steady();  // it is the latest one
    return;
  }
  // A gateway that was restored from a backup has gone back: its word counts, not our model.
  if (model_ && model_->version > message.version) model_.reset();
  fetch_model(message.version);
}

// Training.

ClientEngine::Time ClientEngine::train_when_due(Time now) {
  const Time later = now + kIdle;
  waiting_for_.clear();
  // What is computed without a link is old by the time there is one.
  if (!connected_) return later;
  const bool patient = fetch_ && now < fetch_->started + settings_.model_timeout;
  if (!model_ || patient) {
    if (!fetch_) fetch_model(0);
    waiting_for_ = "waiting for a model";
    return model_ ? fetch_->started + settings_.model_timeout : later;
  }
  const int minute = local_minute(parts_.clock.wall());
  if (const auto wait = schedule_.wait(now, minute); wait > wait.zero()) {
    waiting_for_ = schedule_.quiet(minute) ? "quiet hours" : "";
    return now + wait;
  }
  if (now < retry_at_) {
    waiting_for_ = retry_reason_;
    return retry_at_;
  }
  if (!fetch_ && now - model_time_ > settings_.model_age) {
    fetch_model(model_->version);
    return now + settings_.model_timeout;
  }
  return train(now);
}

ClientEngine::Time ClientEngine::train(Time now) {
  const auto cpu_before = parts_.cpu_time();
  auto update = parts_.training.train(*model_, parts_.keep_going);
  schedule_.trained(now, parts_.cpu_time() - cpu_before);
  Status status = update.ok() ? seal(std::move(*update)) : Status(update.error());
  if (status.ok()) {
    clear(Alert::kTraining);
    return save_when_due(parts_.clock.steady());
  }
  retry_at_ = parts_.clock.steady() + retries_.next();
  waiting_for_ = retry_reason_ = status.error().message;
  if (status.error().kind != ErrorKind::kUnavailable) {
    raise(Alert::kTraining, "training failed: " + status.error().message);
  }
  return retry_at_;
}

Status ClientEngine::seal(TrainedUpdate trained) {
  UpdateMessage update;
  update.fleet = settings_.terms.fleet;
  update.model_hash = settings_.terms.model_hash;
  update.base_version = model_->version;
  update.sequence = parts_.spool.next_sequence();
  update.samples = trained.samples;
  update.loss = trained.loss;
  update.vector = std::move(trained.vector);
  TRY(const Payload payload, parts_.encode(update));
  TRY(SealedEnvelope envelope, parts_.sealer.seal(payload));
  unsaved_ = Unsaved{update.sequence, std::move(envelope).release()};
  status_.loss = trained.loss;
  status_.samples = trained.samples;
  retry_at_ = {};
  return {};
}

ClientEngine::Time ClientEngine::save_when_due(Time now) {
  if (now < retry_at_) return retry_at_;
  const UpdateAuthor author{settings_.terms.device, parts_.sealer.public_key()};
  if (Status status = parts_.spool.store(unsaved_->sequence, author, unsaved_->envelope); !status.ok()) {
    // It stays in memory: sent unsaved, its number could come to mean another update after a power loss.
    raise(Alert::kSpool, "the update cannot be saved, so it is not sent: " + status.error().message);
    retry_at_ = now + retries_.next();
    return retry_at_;
  }
  clear(Alert::kSpool);
  retries_.reset();
  retry_at_ = {};
  const std::uint64_t sequence = unsaved_->sequence;
  Bytes envelope = std::move(unsaved_->envelope);
  unsaved_.reset();
  begin_sending(sequence, std::move(envelope));
  return now;
}

// Sending.

void ClientEngine::begin_sending(std::uint64_t sequence, Bytes envelope) {
  status_.sequence = sequence;
  // Rounds grow with the seconds of the clock, so that a restarted device goes on above its former rounds.
  const auto seconds_now =
      std::chrono::duration_cast<seconds>(parts_.clock.wall().time_since_epoch()).count();
  const auto round = static_cast<std::uint16_t>(seconds_now & 0xffff);
  auto outgoing = OutgoingUpdate::create(sequence, std::move(envelope), round, settings_.answer,
                                         settings_.jitter_seed ^ sequence);
  if (outgoing.ok()) {
    outgoing_.emplace(std::move(*outgoing));
  } else {
    raise(Alert::kTraining,
          "update " + std::to_string(sequence) + " cannot be sent: " + outgoing.error().message);
    parts_.spool.finish(sequence);
  }
}

ClientEngine::Time ClientEngine::send_when_due(Time now) {
  if (!connected_) return now + kIdle;
  if (outgoing_->start_over_when_due(now)) {
    parts_.log.info("no verdict for update " + std::to_string(outgoing_->sequence()) +
                    " yet; sending it again");
  }
  outgoing_->send(parts_.bus, update_topic_);
  return std::min<Time>(outgoing_->due(), now + kIdle);
}

// Status.

DeviceState ClientEngine::state() const {
  const bool alert =
      std::any_of(alerts_.begin(), alerts_.end(), [](const auto& text) { return !text.empty(); });
  if (alert) return DeviceState::kAlert;
  if (outgoing_ || unsaved_ || (model_ && waiting_for_.empty())) return DeviceState::kTraining;
  return DeviceState::kReady;
}

std::string ClientEngine::message() const {
  for (const std::string& text : alerts_) {
    if (!text.empty()) return text;
  }
  if (!waiting_for_.empty()) return waiting_for_;
  const auto until = settings_.certificate_until;
  if (until && parts_.clock.wall() > *until - kCertificateWarning) {
    return "the certificate ends at " + to_rfc3339(*until) + "; renew it";
  }
  return {};
}

ClientEngine::Time ClientEngine::publish_status_when_due(Time now) {
  if (!connected_) return now + kIdle;
  const bool changed = !status_published_ || state() != published_state_ || message() != published_message_;
  milliseconds wait = settings_.status_interval;
  if (figures_ != published_figures_) wait = std::min<milliseconds>(wait, kBetweenFigures);
  if (changed) wait = kBetweenStatuses;
  const Time due = status_time_ + wait;
  if (status_published_ && now < due) return due;
  publish_status(now);
  return now + settings_.status_interval;
}

void ClientEngine::publish_status(Time now) {
  published_figures_ = figures_;
  status_.time = parts_.clock.wall();
  status_.board = parts_.board();
  status_.state = published_state_ = state();
  status_.message = published_message_ = message();
  status_.rss_mb = resident_megabytes();
  const std::string json = to_json(status_);
  const auto bytes = std::as_bytes(std::span(json));
  if (parts_.bus.publish({status_topic_, Bytes(bytes.begin(), bytes.end()), true}).ok()) {
    status_published_ = true;
  }
  status_time_ = now;
}

void ClientEngine::say_goodbye() {
  if (!connected_) return;
  status_.state = DeviceState::kDisconnected;
  status_.message.clear();
  status_.time = parts_.clock.wall();
  const std::string json = to_json(status_);
  const auto bytes = std::as_bytes(std::span(json));
  if (auto id = parts_.bus.publish({status_topic_, Bytes(bytes.begin(), bytes.end()), true}); id.ok()) {
    goodbye_ = *id;
  }
}

void ClientEngine::check_certificate() {
  const auto until = settings_.certificate_until;
  if (until && parts_.clock.wall() >= *until) {
    raise(Alert::kCertificate, "the certificate ended at " + to_rfc3339(*until) +
                                   "; renew it with 'aflguard device' and restart the client");
  }
}

void ClientEngine::raise(Alert alert, const std::string& text) {
  std::string& current = alerts_[static_cast<std::size_t>(alert)];
  if (current != text) parts_.log.error(text);
  current = text;
}

/// Counted always, logged at a bounded rate: whoever floods us shall not fill the disk with it.
void ClientEngine::refused(const Refusal& refusal) {
  ++*status_.refused;
  ++refusals_since_log_;
  if (refusal.reason == RefusalReason::kWrongModel) raise(Alert::kModel, refusal.message);
  const Time now = parts_.clock.steady();
  if (now - refusal_log_time_ < kBetweenRefusalLogs && refusal_log_time_ != Time{}) return;
  parts_.log.warning("message refused (" + std::string(to_string(refusal.reason)) + "): " + refusal.message +
                     (refusals_since_log_ > 1
                          ? ", and " + std::to_string(refusals_since_log_ - 1) + " more since the last one"
                          : ""));
  refusal_log_time_ = now;
  refusals_since_log_ = 0;
}

}  // namespace aflguard::edge
