#include "gateway_server/replies/reply_signer.h"

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

}  // namespace aflguard::gateway
