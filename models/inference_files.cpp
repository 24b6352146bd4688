#include "models/inference_files.h"

#include "core/learning/data/npy.h"
#include "core/system/atomic_file.h"
#include "models/onnx_file/inference_onnx.h"

namespace aflguard::models {

Status write_inference_files(const ModelPackage& package, std::span<const float> theta,
                             const InferenceFiles& files) {
  TRY(const std::string onnx, inference_onnx(package, theta));
  TRY_STATUS(write_file_atomically(files.onnx, onnx));
  if (files.npy.empty()) return {};
  return write_npy(files.npy, theta, {theta.size()}, package.description.hash);
}

}  // namespace aflguard::models
