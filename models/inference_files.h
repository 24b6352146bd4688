#pragma once

#include <filesystem>
#include <span>

#include "core/base/result.h"
#include "core/learning/model_package.h"

namespace aflguard::models {

/// Where a trained model is written for programs that only predict.
struct InferenceFiles {
  std::filesystem::path onnx;      ///< the model with its parameters inside
  std::filesystem::path npy = {};  ///< the flat parameters; empty: not wanted
};

/// Each file is replaced whole. Errors as of inference_onnx(), and kIo.
[[nodiscard]] Status write_inference_files(const ModelPackage& package, std::span<const float> theta,
                                           const InferenceFiles& files);

}  // namespace aflguard::models
