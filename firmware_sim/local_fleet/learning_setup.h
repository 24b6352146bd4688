#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/learning/data/dataset.h"
#include "fleet/folder/fleet_settings.h"
#include "lab/tasks/settings.h"

namespace aflguard::sim {

/// The paper's settings for a data set, made more robust where the data set allows: what an operator could
/// choose as well. Errors as lab::default_settings().
[[nodiscard]] Result<lab::ExperimentSettings> fleet_settings_for(const std::string& dataset);

/// The installed data set; it is got first where it is not. Null for synthetic data, which the lab makes.
[[nodiscard]] Result<std::shared_ptr<const DatasetSplit>> get_source(const std::string& dataset);

/// gateway.toml for a fleet that learns that data set; `trusted` and `evaluation` are lines for its sections.
[[nodiscard]] std::string learning_gateway_text(const fleet::FleetSettings& fleet,
                                                const lab::ExperimentSettings& settings,
                                                const std::vector<std::string>& trusted,
                                                std::vector<std::string> evaluation);

}  // namespace aflguard::sim
