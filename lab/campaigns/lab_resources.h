#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/learning/model_package.h"
#include "core/learning/trainer.h"
#include "lab/campaigns/campaign.h"

namespace aflguard::lab {

/// What runs a model. Safe from several threads.
using TrainerFactory = std::function<Result<std::unique_ptr<Trainer>>(const ModelPackage& package)>;

/// Data from the data folder or from a user's files, and models from the zoo (or from one package, which a
/// user's files need), with one trainer per run. Safe from several threads; each model is built once.
/// `partition`: as in ExperimentSettings, for a user's files. kNotFound when the package is not there.
[[nodiscard]] Result<LabResources> make_lab_resources(
    const Catalog& catalog, const std::optional<std::filesystem::path>& model_package,
    TrainerFactory make_trainer, const std::string& partition = {});

/// Machine, build and ONNX Runtime: the same for every run on one machine.
[[nodiscard]] nlohmann::ordered_json lab_context(const std::string& onnxruntime_version);

}  // namespace aflguard::lab
