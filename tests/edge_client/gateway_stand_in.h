#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/envelope/encoded_messages.h"
#include "core/envelope/envelope.h"
#include "core/envelope/message_codec.h"
#include "core/envelope/piece_assembler.h"
#include "core/envelope/piece_sender.h"
#include "core/identity_mbedtls/mbedtls_signer.h"
#include "core/identity_mbedtls/mbedtls_verifier.h"
#include "core/transport/message_bus.h"
#include "core/transport/topics.h"
#include "tests/support/test.h"

namespace aflguard::testing {

/// A gateway made of the real envelope classes that accepts everything: what a device needs as its other
/// side. It answers repeats with the stored verdict, and never what does not fit, as the real one does.
class GatewayStandIn final {
 public:
  struct Seen {
    UpdateMessage message;
    Bytes envelope;
    bool repeat = false;
  };

  GatewayStandIn(MessageBus& bus, MbedtlsSigner& signer, const KeyTable& devices, ModelMessage model)
      : bus_(bus),
        signer_(signer),
        devices_(devices),
        topics_(FleetTopics::create(model.fleet).value()),
        model_(std::move(model)) {}

  void start() {
    ASSERT_OK(bus_.subscribe(topics_.all_updates()));
    ASSERT_OK(bus_.subscribe(topics_.all_device_statuses()));
    ASSERT_OK(bus_.start());
  }

  void handle(const BusEvent& event) {
    if (const auto* received = std::get_if<BusReceived>(&event)) on_message(received->message);
    if (const auto* published = std::get_if<BusPublished>(&event)) {
      if (sender_) sender_->acknowledged(on_their_way_[published->id]);
      pump();
    }
    if (const auto* failed = std::get_if<BusPublishFailed>(&event)) {
      if (sender_) sender_->failed(on_their_way_[failed->id]);
    }
    if (std::holds_alternative<BusConnected>(event)) pump();
  }

  void publish_model() { publish_model(model_); }
  void publish_model(const ModelMessage& model) {
    ASSERT_OK(bus_.publish({topics_.model(), sealed(encode(model).value()), true}));
  }

  /// As it would answer; tests change answers with `change`.
  [[nodiscard]] VerdictMessage verdict_for(const std::string& device, const UpdateMessage& update) const {
    VerdictMessage verdict;
    verdict.fleet = model_.fleet;
    verdict.device = device;
    verdict.sequence = update.sequence;
    verdict.accepted = true;
    verdict.version = model_.version;
    verdict.delay = model_.version - update.base_version - 1;
    verdict.highest_sequence = update.sequence;
    if (models_in_verdicts) verdict.model = model_;
    return verdict;
  }

  [[nodiscard]] Bytes sealed(const Payload& payload) {
    return EnvelopeSealer(signer_).seal(payload).value().release();
  }
  void send_verdict(const VerdictMessage& verdict) { send(verdict.device, sealed(encode(verdict).value())); }
  void send_difference(const std::string& device, const ModelMessage& base) {
    ModelDifference found = difference_of(base.vector, model_.vector).value();
    DifferenceMessage message{model_, base.version, model_digest(model_.vector), found.kind,
                              std::move(found.bytes)};
    message.terms.vector.clear();
    change_difference(message);
    send(device, sealed(encode(message).value()));
  }
  void send_offer(const std::string& device) {
    const OfferMessage message{model_.fleet, model_.model_hash, *offer};
    send(device, sealed(encode(message).value()));
  }
  void send(const std::string& device, Bytes envelope) {
    queue_.emplace_back(topics_.verdict(device), std::move(envelope));
    pump();
  }

  std::vector<Seen> seen;             ///< whole updates, in the order of their arrival
  std::vector<std::string> statuses;  ///< of all devices
  std::size_t retained_statuses = 0;  ///< of them, those that the broker had kept
  std::vector<std::string> refused;   ///< why messages were not taken
  std::size_t pieces = 0;             ///< of updates, repeats included
  bool models_in_verdicts = true;
  bool answers = true;
  bool differences =
      false;  ///< verdicts come behind a difference, where the update was on the newest version
  std::function<void(DifferenceMessage&)> change_difference = [](DifferenceMessage&) {};
  std::optional<EncodingSet> offer;   ///< nothing: a gateway of the version before, which knows format 1
  std::function<void()> answer = {};  ///< in place of judging, when there is one
  std::function<void(VerdictMessage&)> change = [](VerdictMessage&) {};
  ModelMessage& model() { return model_; }
  [[nodiscard]] std::size_t applied() const { return verdicts_.size(); }

 private:
  void on_message(const Message& message) {
    const auto topic = parse_topic(message.topic);
    ASSERT_OK(topic);
    if (topic->kind == TopicKind::kDeviceStatus) {
      if (message.retained) ++retained_statuses;
      statuses.emplace_back(reinterpret_cast<const char*>(message.payload.data()), message.payload.size());
      if (offer && statuses.back().find(R"("wants_offer":true)") != std::string::npos)
        send_offer(topic->device);
      return;
    }
    ++pieces;
    auto envelope = assembler_.accept(topic->device, message.payload, std::chrono::steady_clock::now());
    if (!envelope.ok()) return refused.push_back(envelope.error().message);
    if (*envelope) on_update(topic->device, std::move(**envelope));
  }

  void on_update(const std::string& device, Bytes envelope) {
    auto unverified = UnverifiedEnvelope::parse(envelope);
    if (!unverified.ok()) return refused.push_back(unverified.error().message);
    const MbedtlsVerifier verifier;
    auto payload = EnvelopeOpener(devices_, verifier).open(std::move(*unverified));
    if (!payload.ok()) return refused.push_back(payload.error().message);
    if (!offer && payload->format() != kFirstFormat) return refused.push_back("format version 2 is not 1");
    auto update = decode_update(*payload);
    if (!update.ok()) return refused.push_back(update.error().message);
    if (payload->sender() != device) return refused.push_back("signed by device " + payload->sender());
    if (update->fleet != model_.fleet) return refused.push_back("of fleet " + update->fleet);
    if (update->model_hash != model_.model_hash) return refused.push_back("of another model");
    if (answer) {  // it is not judged
      seen.push_back({std::move(*update), std::move(envelope), false});
      return answer();
    }
    const std::pair key(payload->sender(), update->sequence);
    const bool repeat = verdicts_.contains(key);
    const ModelMessage before = model_;
    if (!repeat) {
      ++model_.version;
      if (differences) model_.vector[model_.version % model_.vector.size()] += 0.5F;
      verdicts_[key] = verdict_for(payload->sender(), *update);
      change(verdicts_[key]);
    }
    seen.push_back({std::move(*update), std::move(envelope), repeat});
    if (answers && differences && seen.back().message.base_version == before.version) {
      send_difference(device, before);
      verdicts_[key].model.reset();
    }
    if (answers) send_verdict(verdicts_[key]);
  }

  void pump() {
    if (sender_ && sender_->all_acknowledged()) sender_.reset();
    if (!sender_ && !queue_.empty()) {
      topic_ = queue_.front().first;
      sender_.emplace(
          PieceSender::create(std::move(queue_.front().second), {.first_round = ++round_}).value());
      queue_.pop_front();
    }
    while (sender_) {
      auto piece = sender_->next();
      if (!piece) return;
      const auto id = bus_.publish({topic_, std::move(piece->message), false});
      if (!id.ok()) return sender_->failed(piece->index);
      on_their_way_[*id] = piece->index;
    }
  }

  MessageBus& bus_;
  MbedtlsSigner& signer_;
  const KeyTable& devices_;
  FleetTopics topics_;
  ModelMessage model_;
  PieceAssembler assembler_;
  std::map<std::pair<std::string, std::uint64_t>, VerdictMessage> verdicts_;
  std::deque<std::pair<std::string, Bytes>> queue_;
  std::string topic_;
  std::uint16_t round_ = 0;
  std::optional<PieceSender> sender_;
  std::map<PublishId, std::uint16_t> on_their_way_;
};

}  // namespace aflguard::testing
