#pragma once

#include <optional>
#include <string>

#include "bench/line_process.h"
#include "core/base/result.h"

namespace aflguard::bench {

/// PyTorch on one thread in a separate process (bench/pytorch_baseline.py), waiting for requests.
class PyTorchBaseline final {
 public:
  /// kNotFound, with what to install, when no Python on this machine has PyTorch.
  [[nodiscard]] static Result<PyTorchBaseline> start();

  [[nodiscard]] const std::string& version() const { return version_; }
  /// Process CPU time of one training step in milliseconds: the median of `steps`.
  [[nodiscard]] Result<double> step_cpu_ms(const std::string& model, int steps);

 private:
  PyTorchBaseline(LineProcess process, std::string version)
      : process_(std::move(process)), version_(std::move(version)) {}
  LineProcess process_;
  std::string version_;
};

}  // namespace aflguard::bench
