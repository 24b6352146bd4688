#include "gateway_server/gateway_voice.h"

#include <algorithm>

#include "core/envelope/message_codec.h"

namespace aflguard {

bool ModelBudget::take(Time now) {
  const double waited = last_ == Time{} ? 0 : std::chrono::duration<double>(now - last_).count();
  last_ = now;
  // A slow budget still lets a whole model through now and then.
  tokens_ = std::min(std::max(1.0, per_second_), tokens_ + waited * per_second_);
  if (per_second_ <= 0 || tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

ModelMessage GatewayVoice::message(const ModelSnapshot& snapshot) const {
  ModelMessage message = terms_;
  message.version = snapshot.version;
  message.vector = snapshot.parameters;
  return message;
}

Result<Bytes> GatewayVoice::model(const ModelSnapshot& snapshot) {
  TRY(const Payload payload, encode(message(snapshot)));
  TRY(SealedEnvelope sealed, sealer_.seal(payload));
  return std::move(sealed).release();
}

Result<Bytes> GatewayVoice::verdict(VerdictMessage verdict, const ModelSnapshot* snapshot) {
  if (snapshot != nullptr) {
    verdict.model = message(*snapshot);
    verdict.version = snapshot->version;
  }
  TRY(const Payload payload, encode(verdict));
  TRY(SealedEnvelope sealed, sealer_.seal(payload));
  return std::move(sealed).release();
}

}  // namespace aflguard
