#include "bench/pytorch_baseline.h"

#include <charconv>

#include "bench/pytorch_baseline_script.h"  // made by CMake from pytorch_baseline.py

namespace aflguard::bench {

Result<PyTorchBaseline> PyTorchBaseline::start() {
  // Debian's PyTorch belongs to Debian's Python, which is not always the first one on the path.
  for (const char* python : {"/usr/bin/python3", "python3"}) {
    auto process = LineProcess::start({python, "-c", kPyTorchBaselineScript});
    if (!process.ok()) continue;
    const auto greeting = process->receive();
    if (greeting.ok() && greeting->starts_with("ready ")) {
      return PyTorchBaseline(std::move(process).value(), greeting->substr(6));
    }
  }
  return not_found(
      "PyTorch is not installed; get it with: apt-get install python3-torch libopenblas0-pthread");
}

Result<double> PyTorchBaseline::step_cpu_ms(const std::string& model, int steps) {
  TRY_STATUS(process_.send(model + " " + std::to_string(steps)));
  TRY(const std::string answer, process_.receive());
  double milliseconds = 0;
  const auto [end, problem] = std::from_chars(answer.data(), answer.data() + answer.size(), milliseconds);
  if (problem != std::errc()) return internal_error("the PyTorch baseline answered '" + answer + "'");
  return milliseconds;
}

}  // namespace aflguard::bench
