#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "core/base/result.h"
#include "lab/campaigns/campaign.h"

namespace aflguard::lab {

/// Data from the data folder, and models from the zoo (or from one package) run by ONNX Runtime with one
/// thread per run. Safe from several threads; each model is built once.
/// kNotFound when no ONNX Runtime is there, or the package is not.
[[nodiscard]] Result<lab::LabResources> make_lab_resources(
    const lab::Catalog& catalog, const std::optional<std::filesystem::path>& model_package);

/// Machine, build and ONNX Runtime: the same for every run on one machine.
[[nodiscard]] Result<nlohmann::ordered_json> lab_context();

}  // namespace aflguard::lab
