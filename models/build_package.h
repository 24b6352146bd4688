#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/learning/model_package.h"
#include "models/batch_norm.h"
#include "models/flavor.h"
#include "models/forward_model.h"

namespace aflguard::models {

struct PackageOptions {
  Loss loss = Loss::kCrossEntropy;
  OpsFlavor ops = OpsFlavor::kFused;  ///< kFused: the package holds both training graphs
  NormStatistics evaluation = NormStatistics::kBatch;
  std::vector<std::string> class_names = {};
  InputScaling scaling = {};
};

struct BuiltPackage {
  ModelPackage package;
  std::vector<std::string> notes;  ///< what the user should know, one line each
};

/// Name, input, output and loss: what samples must look like, known before anything is built.
[[nodiscard]] ModelDescription describe_shapes(const ForwardModel& model, Loss loss);

/// Differentiates the model and writes its graphs. Parameters on which the loss does not depend become
/// constants (a note says so). kUnsupported, naming node and operator, when there is no gradient rule.
[[nodiscard]] Result<BuiltPackage> build_package(const ForwardModel& model, const PackageOptions& options);

}  // namespace aflguard::models
