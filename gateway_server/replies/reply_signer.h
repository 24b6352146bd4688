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
  /// filled in. `taken`: encodings of updates. The signer is borrowed.
  ReplySigner(Signer& signer, ModelMessage terms, const EncodingSet& taken)
      : sealer_(signer), terms_(std::move(terms)), taken_(taken) {}

  /// Models carry other training settings from now on.
  void set_terms(ModelMessage terms) { terms_ = std::move(terms); }

  [[nodiscard]] Result<Bytes> model(const ModelSnapshot& snapshot);
  /// With the model inside when `snapshot` is not null; the verdict then names its version.
  [[nodiscard]] Result<Bytes> verdict(VerdictMessage verdict, const ModelSnapshot* snapshot);
  [[nodiscard]] Result<Bytes> refusal(const RefusalMessage& refusal);
  /// `model` for a device that has `base`. Empty when that takes about as many bytes as the whole model.
  /// `grid`: where both may lie, or null.
  [[nodiscard]] Result<Bytes> difference(const ModelSnapshot& base, const ModelSnapshot& model,
                                         const ModelGrid* grid);
  /// The same for every device, so it is signed once.
  [[nodiscard]] Result<Bytes> offer();

 private:
  [[nodiscard]] ModelMessage message(const ModelSnapshot& snapshot) const;
  EnvelopeSealer sealer_;
  ModelMessage terms_;
  EncodingSet taken_;
  Bytes offer_;  ///< signed
  struct Digest {
    const ModelSnapshot* of = nullptr;
    std::uint64_t version = 0;
    std::array<std::uint8_t, 32> value{};
  };
  Digest digest_;  ///< of the model that differences led to last
};

}  // namespace aflguard::gateway
