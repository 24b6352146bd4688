#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "tools/aflguard/table_options.h"

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
  std::size_t features = 0;         ///< 0: not given
  std::size_t classes = 0;          ///< 0: not given
  std::string input;                ///< "CxHxW"
  std::vector<std::string> labels;  ///< class names, in the order of the classes
  std::string standardise;          ///< a table to measure means and deviations on
  std::string calibration;          ///< samples to measure statistics of normalisations on
  TableOptions table;               ///< how both are to be read
  std::string folder;
  bool force = false;
  bool json = false;
};

[[nodiscard]] Status build_model(const ModelBuildOptions& options);

/// The models of the zoo.
[[nodiscard]] Status list_models(bool json);

}  // namespace aflguard::cli
