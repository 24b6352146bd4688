#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/envelope/envelope.h"
#include "core/envelope/messages.h"

namespace aflguard::gateway {

/// One version of the global model, shared by whoever sends it.
struct ModelSnapshot {
  std::uint64_t version = 0;
  std::uint64_t iteration = 0;
  std::vector<float> parameters;
};
using SharedModel = std::shared_ptr<const ModelSnapshot>;

/// Signs what the gateway says. One thread uses it.
class ReplySigner final {
 public:
  /// `terms`: fleet, hash and training settings that every model message carries; version and vector are
  /// filled in. The signer is borrowed.
  ReplySigner(Signer& signer, ModelMessage terms) : sealer_(signer), terms_(std::move(terms)) {}

  [[nodiscard]] Result<Bytes> model(const ModelSnapshot& snapshot);
  /// With the model inside when `snapshot` is not null; the verdict then names its version.
  [[nodiscard]] Result<Bytes> verdict(VerdictMessage verdict, const ModelSnapshot* snapshot);

 private:
  [[nodiscard]] ModelMessage message(const ModelSnapshot& snapshot) const;
  EnvelopeSealer sealer_;
  ModelMessage terms_;
};

}  // namespace aflguard::gateway
