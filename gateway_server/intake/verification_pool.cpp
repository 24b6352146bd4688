#include "gateway_server/intake/verification_pool.h"

#include "core/envelope/message_codec.h"

namespace aflguard::gateway {
namespace {

Status fits(const UpdateMessage& update, const UpdateRules& rules, RefusalReason& reason) {
  if (update.fleet != rules.fleet) {
    reason = RefusalReason::kWrongFleet;
    return invalid_input("signed for fleet '" + update.fleet + "', this is '" + rules.fleet + "'");
  }
  if (update.model_hash != rules.model_hash) {
    reason = RefusalReason::kWrongModel;
    return invalid_input("computed on model " + to_hex(std::span(update.model_hash).first(6)) +
                         "..., this fleet trains " + to_hex(std::span(rules.model_hash).first(6)) + "...");
  }
  if (update.vector.size() != rules.dimension) {
    reason = RefusalReason::kWrongModel;
    return invalid_input("has " + std::to_string(update.vector.size()) + " numbers, the model has " +
                         std::to_string(rules.dimension));
  }
  return {};
}

}  // namespace

Admitted<VerifiedUpdate> verify_update(ReceivedEnvelope envelope, const EnvelopeOpener& opener,
                                       const UpdateRules& rules) {
  TRY(auto parsed, UnverifiedEnvelope::parse(std::move(envelope.bytes), rules.max_envelope_bytes));
  TRY(const VerifiedPayload payload, opener.open(std::move(parsed)));
  if (payload.sender() != envelope.sender) {
    return refuse(RefusalReason::kForeignSender, "the signature is by device '" + payload.sender() + "'");
  }
  TRY(UpdateMessage update, decode_update(payload, {.numbers = rules.dimension, .taken = rules.taken}));
  RefusalReason reason{};
  if (const Status fit = fits(update, rules, reason); !fit.ok()) return refuse(reason, fit.error().message);
  return VerifiedUpdate{payload.sender(), std::move(update), nullptr, payload.format()};
}

VerificationPool::VerificationPool(std::size_t workers, const Limits& limits, const EnvelopeOpener& opener,
                                   UpdateRules rules, RefusalLog& refusals,
                                   std::function<bool(VerifiedUpdate)> hand_on)
    : opener_(opener),
      rules_(std::move(rules)),
      refusals_(refusals),
      hand_on_(std::move(hand_on)),
      places_(limits.device_updates),
      queue_(limits.waiting_updates, limits.waiting_bytes) {
  for (std::size_t i = 0; i < workers; ++i) workers_.emplace_back([this] { work(); });
}

VerificationPool::~VerificationPool() {
  stop();
}

void VerificationPool::submit(ReceivedEnvelope envelope) {
  const std::string sender = envelope.sender;
  const std::size_t size = envelope.bytes.size();
  envelope.place = places_.take(sender);
  if (envelope.place == nullptr) return note_overload(sender, "too many updates of this device");
  if (!queue_.push(std::move(envelope), size)) note_overload(sender, "too many updates");
}

void VerificationPool::stop() {
  queue_.close();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
}

void VerificationPool::work() {
  while (auto envelope = queue_.pop_until(std::chrono::steady_clock::time_point::max())) {
    const std::string sender = envelope->sender;
    UpdateQuota::Place place = std::move(envelope->place);
    auto update = verify_update(std::move(*envelope), opener_, rules_);
    if (!update) {
      refusals_.note(sender, update.error(), std::chrono::steady_clock::now());
      continue;
    }
    update->place = std::move(place);
    if (!hand_on_(std::move(*update))) note_overload(sender, "too many updates");
  }
}

void VerificationPool::note_overload(const std::string& sender, const std::string& whose) {
  refusals_.note(sender, refuse(RefusalReason::kOverloaded, whose + " wait already; it will come again"),
                 std::chrono::steady_clock::now());
}

}  // namespace aflguard::gateway
