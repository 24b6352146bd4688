#include "gateway_server/intake/verification_pool.h"

#include "core/envelope/message_codec.h"
#include "core/envelope/piece.h"

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
                                       const UpdateRules& rules, EnvelopeFindings* findings) {
  const std::size_t size = envelope.bytes.size();
  TRY(auto parsed, UnverifiedEnvelope::parse(std::move(envelope.bytes), rules.max_envelope_bytes));
  TRY(const VerifiedPayload payload, opener.open(std::move(parsed)));
  if (payload.sender() != envelope.sender) {
    return refuse(RefusalReason::kForeignSender, "the signature is by device '" + payload.sender() + "'");
  }
  if (findings != nullptr) findings->proven = true;
  if (rules.is_paused && rules.is_paused(payload.sender())) {
    return refuse(RefusalReason::kPaused, "the operator has paused this device");
  }
  TRY(UpdateMessage update, decode_update(payload, {.numbers = rules.dimension, .taken = rules.taken}));
  if (findings != nullptr) findings->sequence = update.sequence;
  RefusalReason reason{};
  if (const Status fit = fits(update, rules, reason); !fit.ok()) return refuse(reason, fit.error().message);
  return VerifiedUpdate{payload.sender(), std::move(update), nullptr, payload.format(), size};
}

VerificationPool::VerificationPool(std::size_t workers, const Limits& limits, const EnvelopeOpener& opener,
                                   UpdateRules rules, Outputs outputs)
    : opener_(opener),
      rules_(std::move(rules)),
      outputs_(std::move(outputs)),
      places_(limits.device_updates),
      queue_({.max_items = limits.waiting_updates, .max_cost = limits.waiting_bytes}) {
  for (std::size_t i = 0; i < workers; ++i) workers_.emplace_back([this] { work(); });
}

VerificationPool::~VerificationPool() {
  stop();
}

void VerificationPool::submit(ReceivedEnvelope envelope) {
  const std::string sender = envelope.sender;
  const std::size_t size = most_bytes(envelope.bytes.size());
  const RefusedUpdate refused{.device = sender, .transfer = transfer_id_of(envelope.bytes)};
  envelope.place = places_.take(sender, size);
  if (envelope.place == nullptr) return refuse_overload(refused, "too many updates of this device");
  const auto pushed = queue_.push(sender, std::move(envelope), size);
  if (pushed != FairQueue<ReceivedEnvelope>::Pushed::kTaken) refuse_overload(refused, "too many updates");
}

void VerificationPool::stop() {
  queue_.close();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
}

void VerificationPool::work() {
  while (auto envelope = queue_.pop_until(std::chrono::steady_clock::time_point::max())) {
    RefusedUpdate refused{.device = envelope->sender, .transfer = transfer_id_of(envelope->bytes)};
    UpdateQuota::Place place = std::move(envelope->place);
    EnvelopeFindings findings;
    auto update = verify_update(std::move(*envelope), opener_, rules_, &findings);
    refused.proven = findings.proven;
    refused.sequence = findings.sequence;
    if (!update) {
      refused.refusal = update.error();
      outputs_.refused(std::move(refused));
      continue;
    }
    update->place = std::move(place);
    if (!outputs_.genuine(std::move(*update))) refuse_overload(std::move(refused), "too many updates");
  }
}

void VerificationPool::refuse_overload(RefusedUpdate refused, const std::string& whose) {
  refused.refusal = refuse(RefusalReason::kOverloaded, whose + " wait already; it will come again");
  outputs_.refused(std::move(refused));
}

}  // namespace aflguard::gateway
