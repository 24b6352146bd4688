#pragma once

#include <span>
#include <string>

#include "core/base/result.h"
#include "core/learning/model_package.h"

namespace aflguard::models {

/// The package's evaluation graph with the parameters `theta` inside, each under its own name: an ONNX file
/// that takes x and gives logits, for any runtime. kInvalidInput when theta has another length or is not
/// finite, kCorrupt when the graph is not an ONNX model.
[[nodiscard]] Result<std::string> inference_onnx(const ModelPackage& package, std::span<const float> theta);

}  // namespace aflguard::models
