#include "bench/offline/offline_gateway.h"

#include "core/aggregation/guards/all_guards.h"
#include "core/aggregation/reference_update.h"
#include "core/base/random.h"
#include "core/learning_onnx/onnx_trainer.h"
#include "gateway_server/settings/gateway_inputs.h"
#include "models/zoo/zoo_package.h"

namespace aflguard::bench {
namespace {

constexpr std::size_t kTrusted = 100;  // samples
constexpr double kRate = 1e-9;         // the model moves, and stays where its gradient is what devices send

gateway::GatewaySettings settings_of(const OfflineGateway::Learning& learning) {
  gateway::GatewaySettings settings;
  settings.fleet = kOfflineFleet;
  settings.guard.name = learning.kind == OfflineModel::kCnn ? "aflguard" : "asyncsgd";
  if (learning.kind == OfflineModel::kCnn) settings.trusted.emplace();  // noise_samples() in their place
  settings.training.learning_rate = kRate;
  if (learning.kind == OfflineModel::kSmall) settings.replies.models_per_second = 0;
  gateway::spell_out_guard(all_guards(), settings);
  return settings;
}

}  // namespace

Dataset noise_samples(std::size_t samples) {
  Dataset data;
  Random random(7);
  std::vector<float> features(samples * 28 * 28);
  for (float& value : features) value = static_cast<float>(random.uniform());
  data.sample_shape = {1, 28, 28};
  data.classes = 10;
  data.features = std::move(features);
  for (std::size_t i = 0; i < samples; ++i)
    data.labels.push_back(static_cast<std::int64_t>(random.below(10)));
  return data;
}

Result<OfflineGateway::Learning> OfflineGateway::learn(OfflineModel kind) {
  Learning learning;
  learning.kind = kind;
  const bool cnn = kind == OfflineModel::kCnn;
  TRY(const ModelPackage package, models::build_zoo_package(cnn ? "cnn" : "linear-regression"));
  learning.dimension = package.description.dimension();
  TRY(learning.terms, gateway::model_terms(settings_of(learning), package.description));
  TRY(learning.initial, initial_theta(package, 1));
  learning.honest.assign(learning.dimension, 1e-3F);
  if (!cnn) return learning;
  TRY(auto runtime, OnnxRuntime::load());
  TRY(learning.trainer, make_onnx_trainer(std::move(runtime), package));
  learning.reference = std::make_unique<TrustedSetReference>(*learning.trainer, noise_samples(kTrusted));
  ReferenceUpdate reference;
  TRY_STATUS(learning.reference->compute(learning.initial, 0, reference));
  learning.honest.assign(reference.vector.begin(), reference.vector.end());
  return learning;
}

Result<std::unique_ptr<gateway::SqliteStore>> OfflineGateway::open_store(const Learning& learning,
                                                                         const std::filesystem::path& file) {
  return gateway::SqliteStore::open({.file = file,
                                     .fleet = kOfflineFleet,
                                     .model_hash = to_hex(learning.terms.model_hash),
                                     .guard = gateway::guard_text(settings_of(learning))});
}

Result<std::unique_ptr<OfflineGateway>> OfflineGateway::start(Learning& learning,
                                                              const std::filesystem::path& book,
                                                              const std::filesystem::path& store,
                                                              const Clock& clock, LogSink& log) {
  TRY(OpensslSigner key, OpensslSigner::generate());
  auto made = std::unique_ptr<OfflineGateway>(new OfflineGateway(std::move(key)));
  made->settings = settings_of(learning);
  made->settings.store.file = store;
  TRY_STATUS(gateway::fit_limits(made->settings.limits, learning.dimension));
  TRY(made->registry, gateway::LiveRegistry::open(book, clock, log));
  TRY(auto guard, gateway::make_guard(made->settings, all_guards(),
                                      gateway::guard_settings(made->settings, learning.dimension,
                                                              made->registry->enrolled())));
  const GuardNeeds needs = guard->needs();
  TRY(made->store, open_store(learning, store));
  TRY(gateway::StoredState stored, made->store->load());
  made->aggregator = std::make_unique<Aggregator>(gateway::aggregator_options(made->settings, needs),
                                                  std::move(guard), nullptr, learning.initial);
  made->judge = std::make_unique<gateway::UpdateJudge>(kOfflineFleet, *made->aggregator, *made->store,
                                                       std::move(stored.devices), nullptr, clock, log);
  if (learning.reference == nullptr) return made;
  ReferenceUpdate reference;
  TRY_STATUS(learning.reference->compute(learning.initial, 0, reference));
  TRY_STATUS(made->judge->install_reference(std::move(reference), 0));
  return made;
}

}  // namespace aflguard::bench
