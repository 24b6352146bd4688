#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "models/forward_model.h"
#include "models/onnx_file/onnx_model.h"
#include "models/operator_set.h"

namespace aflguard::models {

struct ImportOptions {
  std::string output;               ///< which output to train; empty: the model has just one
  std::vector<std::string> frozen;  ///< initializers that stay as they are
};

/// Turns a model as exporters write it (opset 7 to 22) into the operators that can be differentiated:
/// old forms become those of kGraphOpset, shape arithmetic is evaluated, padding becomes explicit, and the
/// batch becomes free, also where the file fixed it. Every float initializer is offered as a parameter.
///
/// kUnsupported, naming node and operator, input and dimension, or the value, for what cannot be done.
[[nodiscard]] Result<ForwardModel> import_model(const OnnxModel& model, const OperatorSet& operators,
                                                const ImportOptions& options = {});

}  // namespace aflguard::models
