#include "gateway_server/settings/gateway_inputs.h"

#include <algorithm>
#include <cmath>

#include "core/envelope/model_hash.h"
#include "core/learning/data/npy.h"

namespace aflguard::gateway {
namespace {

Result<std::vector<float>> first_parameters(const GatewaySettings::Model& model,
                                            const ModelPackage& package) {
  if (!model.initial) return initial_theta(package, model.seed);
  TRY(const NpyArray stored, read_npy(*model.initial));
  TRY(auto array, stored.as_float32(model.initial->string()));
  const std::size_t wanted = package.description.dimension();
  const bool finite = std::all_of(array.begin(), array.end(), [](float v) { return std::isfinite(v); });
  if (array.size() == wanted && finite) return array;
  return invalid_input(model.initial->string() + ": holds " + std::to_string(array.size()) +
                       (finite ? "" : ", not all finite,") + " numbers, the model has " +
                       std::to_string(wanted) + " parameters");
}

}  // namespace

Result<GatewayInputs> read_gateway_inputs(const GatewaySettings& settings) {
  GatewayInputs inputs;
  TRY(inputs.package, read_model_package(settings.model.package));
  TRY(inputs.initial, first_parameters(settings.model, inputs.package));
  const ModelDescription& model = inputs.package.description;
  if (settings.trusted) {
    TRY(inputs.trusted, load_dataset(*settings.trusted, model));
  }
  if (settings.evaluation) {
    TRY(inputs.evaluation, load_dataset(settings.evaluation->data, model));
  }
  return inputs;
}

void spell_out_guard(std::span<const GuardKind> kinds, GatewaySettings& settings) {
  const auto kind = find_guard(kinds, settings.guard.name);
  if (kind) settings.guard.options = with_defaults((*kind)->options, std::move(settings.guard.options));
}

Result<std::unique_ptr<Guard>> make_guard(const GatewaySettings& settings, std::span<const GuardKind> kinds,
                                          const GuardSettings& guard_settings) {
  TRY(const GuardKind* kind, find_guard(kinds, settings.guard.name));
  TRY(auto guard, make_guard(*kind, guard_settings));
  if (guard->needs().round > 1) {
    return invalid_input("guard '" + settings.guard.name +
                         "' works in rounds, and a live gateway waits for nobody; choose another");
  }
  if (guard->needs().reference && !settings.trusted) {
    return invalid_input("guard '" + settings.guard.name +
                         "' compares updates with one of the gateway's own: the configuration needs a "
                         "section [trusted] with a few samples");
  }
  return guard;
}

GuardSettings guard_settings(const GatewaySettings& settings, std::size_t dimension, std::uint64_t clients) {
  GuardSettings guard;
  guard.dimension = dimension;
  guard.clients = clients;
  guard.lambda = settings.guard.lambda;
  guard.options = settings.guard.options;
  return guard;
}

AggregatorOptions aggregator_options(const GatewaySettings& settings, const GuardNeeds& needs) {
  AggregatorOptions options;
  options.learning_rate = settings.training.learning_rate;
  options.reference_interval = settings.guard.reference_interval;
  options.max_delay = settings.guard.max_delay;
  options.history = needs.base_model ? settings.guard.history : 0;
  return options;
}

Result<ModelMessage> model_terms(const GatewaySettings& settings, const ModelDescription& model) {
  ModelMessage terms;
  terms.fleet = settings.fleet;
  terms.batch_size = settings.training.batch_size;
  terms.learning_rate = settings.training.learning_rate;
  terms.local_steps = settings.training.local_steps;
  TRY(terms.model_hash, parse_model_hash(model.hash));
  return terms;
}

}  // namespace aflguard::gateway
