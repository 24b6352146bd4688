#include <cmath>

#include "models/onnx_file/inference_onnx.h"
#include "models/onnx_file/onnx_file.h"
#include "models/zoo/zoo_package.h"
#include "tests/models/gradient_cases.h"

using namespace aflguard;
using namespace aflguard::models;
using namespace aflguard::models::testing;

namespace {

std::vector<float> ramp(std::size_t size) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = std::sin(static_cast<float>(i) * 0.7F);
  return values;
}

std::vector<float> outputs(const ModelPackage& package, std::span<const float> theta) {
  const auto trainer = trainer_of(package);
  const std::size_t count = 3;
  const auto x = ramp(count * package.description.input_size());
  std::vector<float> logits(count * package.description.output_size());
  ASSERT_OK(trainer->predict(theta, x, count, logits));
  return logits;
}

}  // namespace

TEST("An exported file holds the parameters under their names and computes what the model computes") {
  const std::vector<std::pair<const char*, ZooOptions>> cases = {
      {"linear-regression", {.features = 5}},
      {"logistic-regression", {.features = 6, .classes = 3}},
      {"cnn", {}},
      {"resnet20-gn", {.classes = 4, .input_shape = {1, 8, 8}}}};
  for (const auto& [name, options] : cases) {
    const ModelPackage package = build_zoo_package(name, options).value();
    auto theta = initial_theta(package, 5).value();
    for (std::size_t i = 0; i < theta.size(); ++i) theta[i] += 0.01F * std::cos(static_cast<float>(i));
    const auto bytes = inference_onnx(package, theta);
    ASSERT_OK(bytes);
    // Read back as anybody's file: its own initializers are the parameters, and x is all it takes.
    const auto file = parse_onnx(*bytes);
    ASSERT_OK(file);
    TEST_ASSERT_EQUAL_size_t(1, file->inputs.size());
    for (const Parameter& parameter : package.description.parameters) {
      const bool found =
          std::any_of(file->initializers.begin(), file->initializers.end(),
                      [&](const OnnxInitializer& item) { return item.name == parameter.name; });
      TEST_ASSERT_TRUE_MESSAGE(found, parameter.name.c_str());
    }
    const auto built = build(*file, package.description.loss);
    ASSERT_OK(built);
    const auto expected = outputs(package, theta);
    const auto found = outputs(built->package, initial_theta(built->package, 1).value());
    TEST_ASSERT_EQUAL_size_t(expected.size(), found.size());
    for (std::size_t i = 0; i < expected.size(); ++i) TEST_ASSERT_FLOAT_WITHIN(1e-4F, expected[i], found[i]);
  }
}

TEST("Parameters that do not fit are refused before anything is written") {
  const ModelPackage package = build_zoo_package("linear-regression", {.features = 5}).value();
  ASSERT_CONTAINS(message_of(inference_onnx(package, std::vector<float>(4))), "4 numbers");
  std::vector<float> theta(5);
  theta[3] = std::nanf("");
  ASSERT_CONTAINS(message_of(inference_onnx(package, theta)), "number 3 is not finite");
}
