#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "core/base/random.h"
#include "core/learning_onnx/onnx_trainer.h"

namespace {

using namespace aflguard;

/// Peak resident memory of this process so far, in KiB.
long peak_resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    long kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib;
  }
  return -1;
}

Result<float> train(const std::string& folder, std::size_t batch_size, int steps) {
  TRY(auto package, read_model_package(folder));
  TRY(auto theta, initial_theta(package, 1));
  TRY(auto runtime, OnnxRuntime::load());
  TRY(auto trainer, make_onnx_trainer(std::move(runtime), std::move(package), {.release_file_pages = true}));
  const ModelDescription& model = trainer->model();
  Random random(1);
  std::vector<float> features(batch_size * model.input_size());
  std::vector<std::int64_t> labels(batch_size);
  std::vector<float> gradient(model.dimension());
  float loss = 0;
  for (float& value : features) value = static_cast<float>(random.uniform());
  for (auto& label : labels) label = static_cast<std::int64_t>(random.below(model.classes()));
  for (int i = 0; i < steps; ++i) {
    TRY(loss, trainer->gradient(theta, {batch_size, features, labels, {}}, gradient));
    for (std::size_t j = 0; j < theta.size(); ++j) theta[j] -= 0.01F * gradient[j];
  }
  return loss;
}

}  // namespace

/// aflguard-train-probe PACKAGE BATCH STEPS: trains a classifier on random data and prints this process's
/// peak resident memory in KiB. It stands for a device in `aflguard bench train`.
int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: aflguard-train-probe PACKAGE BATCH STEPS\n");
    return 2;
  }
  const auto loss = train(argv[1], std::strtoul(argv[2], nullptr, 10), std::atoi(argv[3]));
  if (!loss.ok()) {
    std::fprintf(stderr, "aflguard-train-probe: %s\n", loss.error().message.c_str());
    return 1;
  }
  std::printf("%ld\n", peak_resident_kib());
  return 0;
}
