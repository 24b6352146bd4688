#pragma once

#include <memory>
#include <string>

#include "core/learning/model_package.h"
#include "core/learning/trainer.h"
#include "core/learning_onnx/onnx_runtime.h"

namespace aflguard {

/// Which of a package's training graphs to run.
enum class GraphChoice : std::uint8_t {
  kFastest,   ///< the fused graph if the package has one, else the standard one
  kStandard,  ///< standard ONNX operators only
  kFused,     ///< this project's operators; kNotFound when the package has no such graph
};

struct OnnxTrainerOptions {
  GraphChoice graph = GraphChoice::kFastest;
  int threads = 1;  ///< that share one operator's work; > 0
  /// Give back the memory of code that only the start and the making of a session need: for programs whose
  /// peak counts. It concerns all of the process.
  bool release_file_pages = false;
  bool allow_spinning = false;  ///< let idle threads burn CPU: lower latency, rude on shared boards
  /// Not empty: ONNX Runtime writes the time of every operator to PREFIX*.json when the trainer is destroyed.
  std::string profile_prefix = {};
};

/// A Trainer that runs a package's graphs. Sessions are made when first used, so that a device which only
/// trains never pays for evaluation. Results repeat bitwise on one machine; fused graphs
/// give the same bits for any number of threads.
[[nodiscard]] Result<std::unique_ptr<Trainer>> make_onnx_trainer(std::shared_ptr<const OnnxRuntime> runtime,
                                                                 ModelPackage package,
                                                                 const OnnxTrainerOptions& options = {});

}  // namespace aflguard
