#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/identity_openssl/openssl_signer.h"
#include "core/identity_openssl/openssl_verifier.h"
#include "core/learning/data/dataset.h"
#include "core/learning/trainer.h"
#include "gateway_server/intake/live_registry.h"
#include "gateway_server/judging/update_judge.h"
#include "gateway_server/settings/gateway_settings.h"
#include "gateway_server/store/sqlite_store.h"

namespace aflguard::bench {

/// Noise of MNIST's shape: its gradient costs what any other's costs.
[[nodiscard]] Dataset noise_samples(std::size_t samples);

/// What an offline gateway learns.
enum class OfflineModel : std::uint8_t {
  kCnn,    ///< the zoo's CNN under AFLGuard, with a trusted set of noise
  kSmall,  ///< linear regression without a guard
};

/// Everything that aflguard-gateway is made from but its broker: the real guard, store, book and threads, fed
/// by a benchmark.
class OfflineGateway final {
 public:
  /// The model, which lasts from gateway to gateway.
  struct Learning {
    OfflineModel kind = OfflineModel::kSmall;
    ModelMessage terms;  ///< fleet, hash, training settings
    std::vector<float> initial;
    std::vector<float> honest;  ///< what an honest device sends at the initial model
    std::size_t dimension = 0;
    std::unique_ptr<Trainer> trainer;
    std::unique_ptr<ReferenceSource> reference;  ///< null when the guard needs none
  };
  [[nodiscard]] static Result<Learning> learn(OfflineModel kind);

  /// Opens book and store (made when it is missing), as a gateway does at its start. All borrowed.
  [[nodiscard]] static Result<std::unique_ptr<OfflineGateway>> start(Learning& learning,
                                                                     const std::filesystem::path& book,
                                                                     const std::filesystem::path& store,
                                                                     const Clock& clock, LogSink& log);
  /// An empty store at `file`, for a gateway of this model.
  [[nodiscard]] static Result<std::unique_ptr<gateway::SqliteStore>> open_store(
      const Learning& learning, const std::filesystem::path& file);

  gateway::GatewaySettings settings;
  std::unique_ptr<gateway::LiveRegistry> registry;
  OpensslSigner signer;
  OpensslVerifier verifier;
  std::unique_ptr<gateway::SqliteStore> store;
  std::unique_ptr<Aggregator> aggregator;
  std::unique_ptr<gateway::UpdateJudge> judge;

 private:
  explicit OfflineGateway(OpensslSigner key) : signer(std::move(key)) {}
};

inline constexpr const char* kOfflineFleet = "bench";

}  // namespace aflguard::bench
