#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace aflguard::cli {

/// What `aflguard model build` reads from the command line.
struct ModelBuildOptions {
  std::string zoo;
  std::string onnx;
  std::string loss;
  std::string ops = "fused";
  std::string evaluation = "batch";
  std::string name;
  std::string output;
  std::vector<std::string> frozen;
  std::size_t features = 0;  ///< 0: not given
  std::size_t classes = 0;   ///< 0: not given
  std::string input;         ///< "CxHxW"
  std::string folder;
  bool force = false;
  bool json = false;
};

[[nodiscard]] Status build_model(const ModelBuildOptions& options);

/// The models of the zoo.
[[nodiscard]] Status list_models(bool json);

}  // namespace aflguard::cli
