#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/aggregation/aggregator.h"
#include "core/aggregation/guard_kind.h"
#include "core/envelope/messages.h"
#include "core/learning/data/dataset.h"
#include "core/learning/model_package.h"
#include "gateway_server/settings/gateway_settings.h"

namespace aflguard::gateway {

/// What a gateway reads before it starts: everything that can be wrong is found here.
struct GatewayInputs {
  ModelPackage package;
  std::vector<float> initial;  ///< first parameters of a new fleet
  std::optional<Dataset> trusted;
  std::optional<Dataset> evaluation;
};

/// kInvalidInput, kNotFound or kCorrupt, naming the file.
[[nodiscard]] Result<GatewayInputs> read_gateway_inputs(const GatewaySettings& settings);

/// Makes room for the messages of a model with so many parameters where the file leaves a limit open.
/// kInvalidInput, naming key and number, when a limit in the file is too low for the model to work at all.
[[nodiscard]] Status fit_limits(GatewaySettings::Limits& limits, std::size_t dimension);

/// Writes the defaults of the guard's options out, so that what stores and recordings say of a guard keeps
/// its meaning when a later version has other defaults. An unknown guard is left to make_guard.
void spell_out_guard(std::span<const GuardKind> kinds, GatewaySettings& settings);

/// The guard of the configuration, for a fleet of `clients` devices. kInvalidInput when it is unknown, works
/// in rounds, or needs trusted samples that the configuration does not give.
[[nodiscard]] Result<std::unique_ptr<Guard>> make_guard(const GatewaySettings& settings,
                                                        std::span<const GuardKind> kinds,
                                                        const GuardSettings& guard_settings);
[[nodiscard]] GuardSettings guard_settings(const GatewaySettings& settings, std::size_t dimension,
                                           std::uint64_t clients);
[[nodiscard]] AggregatorOptions aggregator_options(const GatewaySettings& settings, const GuardNeeds& needs);

/// What every model message of this fleet says besides version and parameters.
[[nodiscard]] Result<ModelMessage> model_terms(const GatewaySettings& settings,
                                               const ModelDescription& model);

}  // namespace aflguard::gateway
