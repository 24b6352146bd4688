#pragma once

#include "core/envelope/envelope.h"
#include "core/envelope/messages.h"
#include "core/envelope/refusal_message.h"
#include "gateway_server/judging/model_snapshot.h"

namespace aflguard::gateway {

/// Signs the gateway's messages. Used by one thread.
class ReplySigner final {
 public:
  /// `terms`: fleet, hash and training settings that every model message carries; version and vector are
  /// filled in. The signer is borrowed.
  ReplySigner(Signer& signer, ModelMessage terms) : sealer_(signer), terms_(std::move(terms)) {}

  [[nodiscard]] Result<Bytes> model(const ModelSnapshot& snapshot);
  /// With the model inside when `snapshot` is not null; the verdict then names its version.
  [[nodiscard]] Result<Bytes> verdict(VerdictMessage verdict, const ModelSnapshot* snapshot);
  [[nodiscard]] Result<Bytes> refusal(const RefusalMessage& refusal);

 private:
  [[nodiscard]] ModelMessage message(const ModelSnapshot& snapshot) const;
  EnvelopeSealer sealer_;
  ModelMessage terms_;
};

}  // namespace aflguard::gateway
