#include "edge_client/client_engine.h"

#include <algorithm>

#include "core/envelope/encoded_messages.h"
#include "core/envelope/message_codec.h"
#include "core/telemetry/program_facts.h"
#include "core/verdict/reason.h"
#include "edge_client/receiving/verdict_text.h"
#include "edge_client/sending/refusal_response.h"
#include "edge_client/sending/waiting_update.h"

namespace aflguard::edge {
namespace {

using std::chrono::seconds;

/// Nothing is due: events come whenever they come.
constexpr seconds kIdle(60);
/// A gateway that makes offers answers within a round trip; an older one never does.
constexpr seconds kOfferTimeout(1);
/// Sends of one update without a verdict, after which that needs attention.
constexpr std::uint64_t kMostFruitlessSends = 3;
/// Shorter waits are not worth a status message from each device of a crowd.
constexpr seconds kWorthReporting(10);

StatusOptions status_options(const EngineSettings& settings, const FleetTopics& topics) {
  return {settings.membership.device,
          settings.software,
          topics.device_status(settings.membership.device),
          settings.status_interval,
          settings.certificate_until,
          settings.model_name,
          to_hex(std::span(settings.membership.model_hash).first(8))};
}

}  // namespace

ClientEngine::ClientEngine(EngineSettings settings, TrainingSchedule schedule, const FleetTopics& topics,
                           const EngineParts& parts)
    : settings_(std::move(settings)),
      schedule_(std::move(schedule)),
      parts_(parts),
      inbox_(settings_.membership, parts.opener),
      models_(settings_.model, topics.model(), parts.bus, parts.clock, parts.log),
      status_(status_options(settings_, topics), parts.bus, parts.clock, parts.log, parts.board),
      update_topic_(topics.update(settings_.membership.device)),
      verdict_topic_(topics.verdict(settings_.membership.device)),
      trial_topic_(topics.trial(settings_.membership.device)),
      retries_(seconds(5), seconds(60), settings_.jitter_seed) {
  status_.sending(parts_.spool.next_sequence() - 1);
  status_.offer_wanted(!parts_.encode);
}

Status ClientEngine::start() {
  for (const std::string& warning : parts_.spool.warnings()) parts_.log.warning(warning);
  if (auto waiting = parts_.spool.take_waiting()) TRY_STATUS(take_up(std::move(*waiting)));
  TRY_STATUS(parts_.bus.subscribe(verdict_topic_));
  if (parts_.upgrade != nullptr) TRY_STATUS(parts_.upgrade->start());
  if (!outgoing_) models_.ask(0);
  return parts_.bus.start();
}

Status ClientEngine::take_up(SpooledUpdate waiting) {
  const std::uint64_t sequence = waiting.sequence;
  const std::string name = "update " + std::to_string(sequence);
  const auto update = open_waiting_update(std::move(waiting), settings_.membership,
                                          parts_.sealer.public_key(), parts_.verifier);
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
  const Payload payload{update->type(), Bytes(update->bytes().begin(), update->bytes().end()),
                        update->format()};
  TRY(SealedEnvelope envelope, parts_.sealer.seal(payload));
  parts_.log.info(
      name + " waits for its verdict since the last run; it is signed again, with this device's new key");
  begin_sending(sequence, std::move(envelope).release());
  return {};
}

void ClientEngine::handle(BusEvent event) {
  const Time now = parts_.clock.steady();
  if (auto* connected = std::get_if<BusConnected>(&event)) on_connected(*connected);
  if (std::holds_alternative<BusDisconnected>(event)) on_disconnected();
  if (auto* received = std::get_if<BusReceived>(&event)) on_received(std::move(received->message));
  if (const auto* published = std::get_if<BusPublished>(&event)) {
    status_.publish_ended(published->id);
    if (outgoing_) outgoing_->published(published->id, now);
  }
  if (const auto* failed = std::get_if<BusPublishFailed>(&event)) {
    status_.publish_ended(failed->id);
    if (outgoing_) outgoing_->failed(failed->id);
  }
}

ClientEngine::Time ClientEngine::step() {
  const Time now = parts_.clock.steady();
  Time next = now + kIdle;
  next = std::min(next, unsaved_ ? save_when_due(now) : next);
  if (!unsaved_ && !outgoing_) next = std::min(next, train_when_due(now));
  if (outgoing_) next = std::min(next, send_when_due(now));
  next = std::min(next, upgrade_when_due(now));
  return std::min(next, publish_status_when_due(parts_.clock.steady()));
}

void ClientEngine::change(const LiveSettings& settings) {
  schedule_.change(settings.schedule);
  settings_.answer = settings.answer;
  settings_.encoding = settings.encoding;
  status_.set_interval(settings.status_interval);
}

// The connection.

void ClientEngine::on_connected(const BusConnected& event) {
  parts_.log.info("connected by " + event.protocol);
  parts_.log.fact(to_line(ReadyFact{settings_.membership.fleet, settings_.membership.device}));
  connected_ = true;
  offer_awaited_until_ = parts_.clock.steady() + kOfferTimeout;
  status_.connected();
  if (outgoing_) {
    outgoing_->connected(parts_.clock.steady());
  } else if (!unsaved_) {
    models_.ask_for_newest();  // the fleet went on meanwhile
  }
  models_.connected();
  if (parts_.upgrade != nullptr) parts_.upgrade->on_connected();
}

void ClientEngine::on_disconnected() {
  connected_ = false;
  if (outgoing_) outgoing_->link_lost();
  status_.check_certificate();
}

void ClientEngine::on_received(Message message) {
  if (message.topic == verdict_topic_) {
    on_piece(message.payload);
  } else if (message.topic == models_.topic()) {
    on_model(std::move(message.payload));
  } else if (parts_.upgrade != nullptr) {
    const auto topic = parse_topic(message.topic);
    if (topic.ok()) parts_.upgrade->take(topic->kind, topic->device, message);
  }
}

// Models.

void ClientEngine::on_model(Bytes envelope) {
  if (!models_.asking()) return;  // it was on its way when we unsubscribed
  auto model = inbox_.take_model(std::move(envelope));
  if (!model.ok()) {
    const RefusalReason reason = model.error().reason;
    // A larger model than this device's is refused for its size, before it is opened.
    if (reason == RefusalReason::kWrongModel || reason == RefusalReason::kOversized) learn_fleets_model();
    return refused(model.error());
  }
  status_.clear(Alert::kModel);
  if (!models_.offer(std::move(*model))) return;
  model_taken();
  // The gateway trains this device's model after all.
  if (outgoing_) outgoing_->hold_no_longer(parts_.clock.steady());
}

void ClientEngine::model_taken() {
  status_.clear(Alert::kModel);
  status_.model_taken(models_.model()->version);
}

// Verdicts.

void ClientEngine::on_piece(std::span<const std::byte> piece) {
  const Time now = parts_.clock.steady();
  auto message = inbox_.take_piece(piece, now);
  if (!message.ok()) return refused(message.error());
  if (!message->has_value()) {
    if (outgoing_) outgoing_->answer_arrives(now);
    return;
  }
  if (auto* verdict = std::get_if<ReceivedVerdict>(&**message)) on_verdict(std::move(*verdict));
  if (const auto* refusal = std::get_if<RefusalMessage>(&**message)) on_refusal(*refusal);
  if (auto* offer = std::get_if<OfferMessage>(&**message)) on_offer(std::move(*offer));
  if (const auto* difference = std::get_if<DifferenceMessage>(&**message)) on_difference(*difference);
  if (auto* model = std::get_if<ModelMessage>(&**message)) on_whole_model(std::move(*model));
}

/// The gateway's offer says it, signed, whatever the size of that model.
void ClientEngine::learn_fleets_model() {
  offer_.reset();
  status_.offer_wanted(!parts_.encode);
}

void ClientEngine::on_offer(OfferMessage offer) {
  const bool own = offer.model_hash == settings_.membership.model_hash;
  if (parts_.upgrade != nullptr) parts_.upgrade->fleet_trains(offer.model_hash);
  if (!own && parts_.upgrade != nullptr) return status_.offer_wanted(false);
  if (!own)
    return refused(refuse(RefusalReason::kWrongFleet, "an offer for another model than this device's"));
  offer_ = std::move(offer);
  status_.offer_wanted(false);
  // That is how a gateway wakes a device that was paused.
  if (outgoing_ && refusal_.reason == to_string(RefusalReason::kPaused)) {
    outgoing_->hold_no_longer(parts_.clock.steady());
  }
}

void ClientEngine::on_verdict(ReceivedVerdict verdict) {
  const VerdictMessage& message = verdict.message;
  parts_.spool.raise_sequence(message.highest_sequence);
  // A copy of this board's card has used the number of an update that is not even saved: it gets a new one.
  if (unsaved_ && unsaved_->sequence < parts_.spool.next_sequence()) unsaved_.reset();
  if (!outgoing_ || message.sequence != outgoing_->sequence()) {
    parts_.log.debug("verdict " + std::to_string(message.sequence) + " again, for no update that waits");
    return;
  }
  if (message.reason == static_cast<std::uint8_t>(RefusalReason::kOverloaded)) {
    parts_.log.warning("the gateway has no room for update " + std::to_string(message.sequence) +
                       " now; it goes again later");
    return outgoing_->hold(parts_.clock.steady(), {});
  }
  finish_update(message);
  take_model_of(std::move(verdict));
}

void ClientEngine::on_refusal(const RefusalMessage& refusal) {
  if (!outgoing_ || refusal.transfer != outgoing_->transfer()) {
    parts_.log.debug("a refusal of an update that does not wait (any more)");
    return;
  }
  // It is an older gateway than the one that made the offer, or it takes less than that by now.
  if (refusal.reason == RefusalReason::kUnsupported && fall_back_to_first_format()) {
    offer_.reset();
    return status_.offer_wanted(!parts_.encode);
  }
  const Time now = parts_.clock.steady();
  const RefusalResponse response = respond_to(refusal, outgoing_->sequence());
  refusal_ = {std::string(reason_name(static_cast<std::uint8_t>(refusal.reason))), response.text};
  if (response.action == RefusalAction::kGiveUp) return give_up_update(response.text);
  outgoing_->hold(now, response.wait);
  if (response.action == RefusalAction::kSendLater) status_.asked_to_wait(response.text);
  if (response.action == RefusalAction::kAskForHelp) status_.raise(Alert::kRefused, response.text);
  if (response.action == RefusalAction::kFetchModel) {
    status_.raise(Alert::kModel, response.text);
    models_.ask_for_newest();
    learn_fleets_model();
  }
}

/// It would be refused for ever. Its number counts as used.
void ClientEngine::give_up_update(const std::string& why) {
  status_.raise(Alert::kRefused, why);
  parts_.spool.finish(outgoing_->sequence());
  outgoing_.reset();
  retry_at_ = parts_.clock.steady() + retries_.next();
  retry_reason_ = why;
}

void ClientEngine::finish_update(const VerdictMessage& verdict) {
  parts_.spool.finish(verdict.sequence);
  outgoing_.reset();
  if (parts_.upgrade != nullptr) parts_.upgrade->judged();
  if (verdict.come_back > verdict.come_back.zero()) {
    schedule_.pause_until(parts_.clock.steady() + verdict.come_back);
  }
  status_.clear(Alert::kRefused);
  status_.clear(Alert::kUnanswered);
  if (refusal_.reason == to_string(RefusalReason::kWrongModel)) status_.clear(Alert::kModel);
  status_.judged(verdict.accepted, reason_name(verdict.reason), verdict.delay);
  parts_.log.info(verdict_line(verdict));
  parts_.log.fact(to_line(VerdictFact{verdict.sequence, verdict.accepted, reason_name(verdict.reason),
                                      verdict.version, verdict.delay}));
}

void ClientEngine::take_model_of(ReceivedVerdict verdict) {
  if (verdict.model_refusal) refused(*verdict.model_refusal);
  VerdictMessage& message = verdict.message;
  if (!message.model) return models_.newest_is(message.version);
  models_.take(std::move(*message.model));
  model_taken();
}

void ClientEngine::refused(const Refusal& refusal) {
  if (refusal.reason == RefusalReason::kWrongModel) status_.raise(Alert::kModel, refusal.message);
  status_.refused(to_string(refusal.reason), refusal.message);
}

/// It comes in front of its verdict, which then finds its model at hand. What does not fit is only counted:
/// the verdict sends this device to the whole model.
void ClientEngine::on_difference(const DifferenceMessage& difference) {
  auto model = models_.model()
                   ? apply(difference, *models_.model())
                   : Admitted<ModelMessage>(refuse(RefusalReason::kWrongModel, "no model is here yet"));
  if (!model.ok()) return status_.refused(to_string(model.error().reason), model.error().message);
  models_.take(std::move(*model));
  model_taken();
}

/// In front of its verdict, where there is no difference. An older one that was kept on the way and comes
/// again changes nothing.
void ClientEngine::on_whole_model(ModelMessage model) {
  if (!outgoing_ || (models_.model() && model.version < models_.model()->version)) return;
  models_.take(std::move(model));
  model_taken();
}

// Training.

ClientEngine::Time ClientEngine::train_when_due(Time now) {
  const Time later = now + kIdle;
  waiting_for_.clear();
  // What is computed without a link is old by the time there is one.
  if (!connected_) return later;
  if (status_.status().wants_offer && now < offer_awaited_until_) return offer_awaited_until_;
  if (const auto until = models_.wait(now)) {
    waiting_for_ = "waiting for a model";
    return std::min(*until, later);
  }
  const int minute = local_minute(parts_.clock.wall());
  if (const auto wait = schedule_.wait(now, minute); wait > wait.zero()) {
    const bool long_pause = schedule_.paused(now + kWorthReporting);
    waiting_for_ = schedule_.quiet(minute) ? "quiet hours"
                   : long_pause            ? "its turn: the gateway sets the pace"
                                           : "";
    return now + wait;
  }
  if (now < retry_at_) {
    waiting_for_ = retry_reason_;
    return retry_at_;
  }
  if (const auto until = models_.ask_again_when_old(now)) return *until;
  return train(now);
}

ClientEngine::Time ClientEngine::train(Time now) {
  const auto cpu_before = parts_.cpu_time();
  auto update = parts_.training.train(*models_.model(), parts_.keep_going);
  schedule_.trained(now, parts_.cpu_time() - cpu_before);
  Status status = update.ok() ? seal(std::move(*update)) : Status(update.error());
  if (status.ok()) {
    status_.clear(Alert::kTraining);
    return save_when_due(parts_.clock.steady());
  }
  retry_at_ = parts_.clock.steady() + retries_.next();
  waiting_for_ = retry_reason_ = status.error().message;
  if (status.error().kind != ErrorKind::kUnavailable) {
    status_.raise(Alert::kTraining, "training failed: " + status.error().message);
  }
  return retry_at_;
}

Status ClientEngine::seal(TrainedUpdate trained) {
  UpdateMessage update;
  update.fleet = settings_.membership.fleet;
  update.model_hash = settings_.membership.model_hash;
  update.base_version = models_.model()->version;
  update.sequence = parts_.spool.next_sequence();
  update.samples = trained.samples;
  update.loss = trained.loss;
  update.vector = std::move(trained.vector);
  const std::uint64_t sequence = update.sequence;
  TRY(SealedEnvelope envelope, sealed(std::move(update)));
  unsaved_ = Unsaved{sequence, std::move(envelope).release()};
  status_.trained(trained.loss, trained.samples);
  retry_at_ = {};
  return {};
}

Result<SealedEnvelope> ClientEngine::sealed(UpdateMessage update) {
  if (parts_.encode) {
    TRY(const Payload payload, parts_.encode(update));
    return parts_.sealer.seal(payload);
  }
  if (offer_) return seal_as_offered(std::move(update), *offer_, settings_.encoding, parts_.sealer);
  TRY(const BorrowedPayload payload, encode_borrowed(update));
  return parts_.sealer.seal_borrowed(payload);
}

ClientEngine::Time ClientEngine::save_when_due(Time now) {
  if (now < retry_at_) return retry_at_;
  const UpdateAuthor author{settings_.membership.device, parts_.sealer.public_key()};
  if (Status status = parts_.spool.store(unsaved_->sequence, author, unsaved_->envelope); !status.ok()) {
    // It stays in memory: sent unsaved, its number could come to mean another update after a power loss.
    status_.raise(Alert::kSpool, "the update cannot be saved, so it is not sent: " + status.error().message);
    retry_at_ = now + retries_.next();
    return retry_at_;
  }
  status_.clear(Alert::kSpool);
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
  status_.sending(sequence);
  refusal_ = {};
  // Rounds grow with the seconds of the clock, so that a restarted device goes on above its former rounds.
  const auto seconds_now =
      std::chrono::duration_cast<seconds>(parts_.clock.wall().time_since_epoch()).count();
  const auto round = static_cast<std::uint16_t>(seconds_now & 0xffff);
  auto outgoing = OutgoingUpdate::create(sequence, std::move(envelope), round, settings_.answer,
                                         settings_.jitter_seed ^ sequence);
  if (outgoing.ok()) {
    outgoing_.emplace(std::move(*outgoing));
  } else {
    status_.raise(Alert::kTraining,
                  "update " + std::to_string(sequence) + " cannot be sent: " + outgoing.error().message);
    parts_.spool.finish(sequence);
  }
}

ClientEngine::Time ClientEngine::send_when_due(Time now) {
  if (!connected_) return now + kIdle;
  const bool was_held = outgoing_->held();  // then the gateway did answer
  if (outgoing_->start_over_when_due(now)) {
    parts_.log.info("no verdict for update " + std::to_string(outgoing_->sequence()) +
                    " yet; sending it again");
    report_silence();
    if (!was_held) doubt_the_offer();
  }
  outgoing_->send(parts_.bus, update_topic_);
  return std::min<Time>(outgoing_->due(), now + kIdle);
}

void ClientEngine::report_silence() {
  const std::uint64_t sends = outgoing_->fruitless_sends();
  if (sends < kMostFruitlessSends || refusal_.reason == to_string(RefusalReason::kPaused)) return;
  // The count is not in it: a text that changes is a new alert.
  status_.raise(Alert::kUnanswered,
                "update " + std::to_string(outgoing_->sequence()) + " was sent " +
                    std::to_string(kMostFruitlessSends) + " times or more and got no verdict; " +
                    (refusal_.reason.empty() ? "the gateway does not answer: is it running, and can it store?"
                                             : "the gateway's last answer was '" + refusal_.reason + "'"));
}

/// The gateway may be an older one by now, which never answers an update of format 2. A newer one makes its
/// offer again before the next round; without it the update goes in format 1, which every gateway
/// understands.
void ClientEngine::doubt_the_offer() {
  const bool doubted = !std::exchange(offer_, std::nullopt);
  status_.offer_wanted(!parts_.encode);
  if (doubted) (void)fall_back_to_first_format();
}

/// True when the update on its way was in another format, and now goes in that which every gateway
/// understands.
bool ClientEngine::fall_back_to_first_format() {
  const std::uint64_t sequence = outgoing_->sequence();
  auto envelope =
      in_first_format(sequence, outgoing_->envelope(), settings_.membership, parts_.sealer, parts_.verifier);
  if (!envelope.ok()) parts_.log.warning(envelope.error().message);
  if (!envelope.ok() || !envelope->has_value()) return false;
  parts_.log.info("update " + std::to_string(sequence) +
                  " goes in the format that every gateway understands");
  begin_sending(sequence, std::move(**envelope));
  return true;
}

// Another model.

ClientEngine::Time ClientEngine::upgrade_when_due(Time now) {
  if (parts_.upgrade == nullptr) return now + kIdle;
  ModelUpgrade& upgrade = *parts_.upgrade;
  const Time next = upgrade.step(now);
  if (!upgrade.problem().empty()) status_.raise(Alert::kModel, upgrade.problem());
  status_.upgrading(upgrade.model_number(), upgrade.progress());
  const TrialReport* report = connected_ ? upgrade.report_due() : nullptr;
  if (report == nullptr) return next;
  const auto payload = encode(*report);
  auto envelope = payload.ok() ? parts_.sealer.seal(*payload) : Result<SealedEnvelope>(payload.error());
  if (!envelope.ok()) {
    parts_.log.error("the report on a new model cannot be signed: " + envelope.error().message);
    upgrade.report_published();
    return next;
  }
  const auto published =
      parts_.bus.publish({trial_topic_, std::move(*envelope).release(), /*retained=*/true});
  if (published.ok()) upgrade.report_published();
  return published.ok() ? next : now + seconds(1);
}

// Status.

ClientEngine::Time ClientEngine::publish_status_when_due(Time now) {
  if (!connected_) return now + kIdle;
  const bool takes_part = outgoing_ || unsaved_ || (models_.model() && waiting_for_.empty());
  const bool held_for_long = outgoing_ && outgoing_->held() && outgoing_->due() - now > kWorthReporting;
  return status_.publish_when_due(now, {takes_part, held_for_long ? refusal_.text : waiting_for_});
}

void ClientEngine::report(Alert alert, const std::string& problem) {
  if (problem.empty()) return status_.clear(alert);
  status_.raise(alert, problem);
}

void ClientEngine::say_goodbye() {
  if (connected_) status_.say_goodbye();
}

}  // namespace aflguard::edge
