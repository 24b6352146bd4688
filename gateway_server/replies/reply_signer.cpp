#include "gateway_server/replies/reply_signer.h"

#include "core/envelope/encoded_messages.h"
#include "core/envelope/message_codec.h"

namespace aflguard::gateway {

ModelMessage ReplySigner::message(const ModelSnapshot& snapshot) const {
  ModelMessage message = terms_;
  message.version = snapshot.version;
  message.vector = snapshot.parameters;
  return message;
}

Result<Bytes> ReplySigner::model(const ModelSnapshot& snapshot) {
  TRY(const Payload payload, encode(message(snapshot)));
  TRY(SealedEnvelope sealed, sealer_.seal(payload));
  return std::move(sealed).release();
}

Result<Bytes> ReplySigner::verdict(VerdictMessage verdict, const ModelSnapshot* snapshot) {
  if (snapshot != nullptr) {
    verdict.model = message(*snapshot);
    verdict.version = snapshot->version;
  }
  TRY(const Payload payload, encode(verdict));
  TRY(SealedEnvelope sealed, sealer_.seal(payload));
  return std::move(sealed).release();
}

Result<Bytes> ReplySigner::refusal(const RefusalMessage& refusal) {
  TRY(const Payload payload, encode(refusal));
  TRY(SealedEnvelope sealed, sealer_.seal(payload));
  return std::move(sealed).release();
}

Result<Bytes> ReplySigner::difference(const ModelSnapshot& base, const ModelSnapshot& model,
                                      const ModelGrid* grid) {
  TRY(ModelDifference found, difference_of(base.parameters, model.parameters, grid));
  if (found.bytes.size() > model.parameters.size() * sizeof(float) * 9 / 10) return Bytes();
  if (digest_.of != &model || digest_.version != model.version) {
    digest_ = {&model, model.version, model_digest(model.parameters)};
  }
  DifferenceMessage message{terms_, base.version, digest_.value, found.kind, std::move(found.bytes)};
  message.terms.version = model.version;
  TRY(const Payload payload, encode(message));
  TRY(SealedEnvelope sealed, sealer_.seal(payload));
  return std::move(sealed).release();
}

Result<Bytes> ReplySigner::offer() {
  if (offer_.empty()) {
    TRY(const Payload payload, encode(OfferMessage{terms_.fleet, terms_.model_hash, taken_}));
    TRY(SealedEnvelope sealed, sealer_.seal(payload));
    offer_ = std::move(sealed).release();
  }
  return offer_;
}

}  // namespace aflguard::gateway
