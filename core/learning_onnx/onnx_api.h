#pragma once
// The one way in which this folder includes ONNX Runtime: its API table is fetched from the loaded library.
#define ORT_API_MANUAL_INIT
#include <onnxruntime_cxx_api.h>
#undef ORT_API_MANUAL_INIT

#include <string>

#include "core/learning_onnx/onnx_runtime.h"

namespace aflguard {

struct OnnxRuntime::Internals {
  std::string version;
  std::string path;
  Ort::Env environment{nullptr};
};

}  // namespace aflguard
