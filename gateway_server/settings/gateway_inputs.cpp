#include "gateway_server/settings/gateway_inputs.h"

#include <algorithm>
#include <cmath>

#include "core/envelope/message_codec.h"
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

Status fit_limits(GatewaySettings::Limits& limits, std::size_t dimension) {
  const std::size_t update = max_envelope_for(dimension);
  struct Limit {
    const char* key;
    std::size_t& value;
    std::size_t least;   ///< the model does not work with less
    std::size_t wanted;  ///< without a key in the file
  };
  // A device's new update may come while the rest of its former one is still on its way.
  for (const Limit& limit : {Limit{"update_bytes", limits.update_bytes, update, update},
                             Limit{"device_bytes", limits.device_bytes, update, 2 * update},
                             Limit{"inbox_bytes", limits.inbox_bytes, update, 8 * update},
                             Limit{"waiting_bytes", limits.waiting_bytes, update, 4 * update},
                             Limit{"outbox_bytes", limits.outbox_bytes, update, 8 * update}}) {
    if (!limits.given.contains(limit.key)) {
      limit.value = std::max(limit.value, limit.wanted);
    } else if (limit.value < limit.least) {
      return invalid_input("[limits] " + std::string(limit.key) + " is " + std::to_string(limit.value) +
                           ", and an update of a model with " + std::to_string(dimension) +
                           " parameters has up to " + std::to_string(update) +
                           " bytes; raise the key, or leave it out to have it fitted to the model");
    }
  }
  return {};
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
                         "' works in rounds, and a live gateway has none; choose another");
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
