#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/learning_onnx/onnx_trainer.h"
#include "models/build_package.h"
#include "models/finite_differences.h"
#include "models/import/import_model.h"
#include "models/onnx_file/onnx_model.h"
#include "tests/support/test.h"

namespace aflguard::models::testing {

using aflguard::testing::message_of;

/// A model as an exporter would write it, node by node. The input is "x", the output of the last node "out".
class FileBuilder {
 public:
  explicit FileBuilder(std::vector<std::int64_t> sample_shape, int opset = 13) {
    model.opset = opset;
    OnnxInput input{"x", ElementType::kFloat, true, {OnnxDim{std::nullopt, "batch"}}};
    for (const std::int64_t extent : sample_shape) input.dims.push_back({extent, ""});
    model.inputs.push_back(input);
    model.outputs = {"out"};
  }

  /// Makes the input ids, as models with an embedding take them.
  FileBuilder& takes(ElementType type) {
    model.inputs.front().type = type;
    return *this;
  }

  FileBuilder& node(const std::string& op, std::vector<Value> inputs, const Value& output,
                    Attributes attributes = {}) {
    model.nodes.push_back({{"", op}, std::move(inputs), {output}, std::move(attributes), "the_" + output});
    return *this;
  }
  /// An initializer with fixed, irregular values around `centre`.
  FileBuilder& weight(const std::string& name, std::vector<std::int64_t> shape, float centre = 0) {
    Tensor tensor{ElementType::kFloat, shape, {}};
    std::vector<float> values(tensor.size());
    for (float& value : values) value = centre + 0.5F * next();
    model.initializers.push_back({name, float_tensor(values, shape)});
    return *this;
  }
  FileBuilder& ints(const std::string& name, const std::vector<std::int64_t>& values) {
    model.initializers.push_back({name, int64_vector(values)});
    return *this;
  }

  OnnxModel model;

 private:
  float next() {
    state_ = state_ * 1103515245U + 12345U;
    return static_cast<float>((state_ >> 8U) & 0xffffU) / 32768.0F - 1.0F;
  }
  std::uint32_t state_ = 42;
};

inline Result<BuiltPackage> build(const OnnxModel& file, Loss loss, const ImportOptions& options = {},
                                  NormStatistics evaluation = NormStatistics::kBatch) {
  TRY(const auto model, import_model(file, standard_operators(), options));
  return build_package(model, {loss, OpsFlavor::kStandard, evaluation});
}

inline std::unique_ptr<Trainer> trainer_of(const ModelPackage& package,
                                           GraphChoice graph = GraphChoice::kStandard) {
  static const auto runtime = OnnxRuntime::load();
  ASSERT_OK(runtime);
  OnnxTrainerOptions options;
  options.graph = graph;
  auto trainer = make_onnx_trainer(*runtime, package, options);
  ASSERT_OK(trainer);
  return std::move(trainer).value();
}

/// Builds the model and compares its gradient with finite differences, for several batch sizes.
inline void expect_gradient(const FileBuilder& file, std::size_t parameters,
                            Loss loss = Loss::kMeanSquaredError, double limit = 5e-3,
                            std::vector<std::size_t> batches = {1, 3, 32}) {
  const auto built = build(file.model, loss);
  ASSERT_OK(built);
  TEST_ASSERT_EQUAL_size_t(parameters, built->package.description.parameters.size());
  const auto trainer = trainer_of(built->package);
  for (const std::size_t batch : batches) {
    const auto theta = initial_theta(built->package, 1);
    ASSERT_OK(theta);
    const auto result = check_gradient(*trainer, *theta, batch, 5);
    ASSERT_OK(result);
    const std::string message = "relative error " + std::to_string(result->worst_error) + " at " +
                                result->worst_parameter + " with batch " + std::to_string(batch);
    TEST_ASSERT_TRUE_MESSAGE(result->worst_error <= limit, message.c_str());
  }
}

inline void expect_refusal(const FileBuilder& file, const std::vector<std::string>& parts,
                           Loss loss = Loss::kMeanSquaredError) {
  const auto built = build(file.model, loss);
  TEST_ASSERT_FALSE_MESSAGE(built.ok(), "the model was accepted");
  for (const std::string& part : parts) ASSERT_CONTAINS(built.error().message, part);
}

}  // namespace aflguard::models::testing
