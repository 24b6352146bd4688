#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "tools/aflguard/table_options.h"

namespace aflguard::cli {

/// What the verbs that use a package read from the command line.
struct ModelRunOptions {
  std::string folder;
  std::string theta;
  std::string store;       ///< a gateway's, instead of theta
  std::string npy;         ///< also write the parameters there
  std::string statistics;  ///< a table of samples for the statistics of normalisations
  TableOptions table;      ///< how it is to be read
  std::string x;
  std::string y;
  std::string output;
  std::string ops;  ///< "standard", "fused", or empty: the fastest that the package has
  std::uint64_t seed = 1;
  std::size_t batch = 0;
  double tolerance = 0.01;
  int threads = 1;
  bool json = false;
};

[[nodiscard]] Status show_model(const ModelRunOptions& options);
[[nodiscard]] Status initialize_theta(const ModelRunOptions& options);
[[nodiscard]] Status compute_gradient(const ModelRunOptions& options);
[[nodiscard]] Status predict(const ModelRunOptions& options);
/// The model with its parameters inside, for inference with any ONNX Runtime.
[[nodiscard]] Status export_model(const ModelRunOptions& options);
[[nodiscard]] Status check_model(const ModelRunOptions& options);

}  // namespace aflguard::cli
