#include <cmath>

#include "tests/models/gradient_cases.h"

using namespace aflguard;
using namespace aflguard::models;
using namespace aflguard::models::testing;

namespace {

using Ints = std::vector<std::int64_t>;

FileBuilder batch_norm(const Ints& sample, Attributes attributes = {}) {
  FileBuilder file(sample);
  Ints scale(sample.size(), 1);
  scale[0] = sample[0];
  file.weight("s", scale, 1).node("Mul", {"x", "s"}, "a").node("Mul", {"a", "x"}, "h");
  file.weight("gamma", {sample[0]}, 1).weight("beta", {sample[0]});
  file.weight("mean", {sample[0]}, 0.5F).weight("variance", {sample[0]}, 2);
  file.node("BatchNormalization", {"h", "gamma", "beta", "mean", "variance"}, "out", std::move(attributes));
  return file;
}

}  // namespace

TEST("BatchNormalization trains with the batch's statistics; stored ones are not parameters") {
  expect_gradient(batch_norm({3, 4, 4}), 3, Loss::kMeanSquaredError, 5e-3, {6, 32});
  expect_gradient(batch_norm({3, 5}), 3, Loss::kMeanSquaredError, 5e-3, {6, 32});
  expect_gradient(batch_norm({4}), 3, Loss::kMeanSquaredError, 5e-3, {6, 32});
}

TEST("BatchNormalization in training mode, with all its outputs, is the same") {
  FileBuilder file = batch_norm({3, 4}, {{"training_mode", std::int64_t{1}}, {"epsilon", 1e-3F}});
  file.model.nodes.back().outputs = {"out", "running_mean", "running_variance"};
  expect_gradient(file, 3, Loss::kMeanSquaredError, 5e-3, {4, 32});
}

TEST("Evaluation normalises with the batch by default and with stored statistics on request") {
  FileBuilder file({2});
  file.model.initializers.push_back({"gamma", float_tensor({1, 1}, {2})});
  file.model.initializers.push_back({"beta", float_tensor({0, 0}, {2})});
  file.model.initializers.push_back({"mean", float_tensor({1, 2}, {2})});
  file.model.initializers.push_back({"variance", float_tensor({4, 9}, {2})});
  file.node("BatchNormalization", {"x", "gamma", "beta", "mean", "variance"}, "out", {{"epsilon", 0.0F}});
  const std::vector<float> x{1, 2, 5, 8};
  std::vector<float> outputs(4);
  const auto batch = build(file.model, Loss::kMeanSquaredError);
  ASSERT_OK(batch);
  ASSERT_OK(trainer_of(batch->package)->predict(batch->package.initial, x, 2, outputs));
  const float normal[] = {-1, -1, 1, 1};
  for (std::size_t i = 0; i < 4; ++i) TEST_ASSERT_FLOAT_WITHIN(1e-5F, normal[i], outputs[i]);
  const auto stored = build(file.model, Loss::kMeanSquaredError, {}, NormStatistics::kStored);
  ASSERT_OK(stored);
  ASSERT_OK(trainer_of(stored->package)->predict(stored->package.initial, x, 2, outputs));
  const float fixed[] = {0, 0, 2, 2};
  for (std::size_t i = 0; i < 4; ++i) TEST_ASSERT_FLOAT_WITHIN(1e-5F, fixed[i], outputs[i]);
  TEST_ASSERT_EQUAL_STRING(batch->package.description.hash.c_str(), stored->package.description.hash.c_str());
}

TEST("BatchNormalization keeps its digits where the mean is far from zero") {
  FileBuilder file({1});
  file.model.initializers.push_back({"gamma", float_tensor({1}, {1})});
  file.model.initializers.push_back({"beta", float_tensor({0.25F}, {1})});
  file.weight("mean", {1}).weight("variance", {1}, 2);
  file.node("BatchNormalization", {"x", "gamma", "beta", "mean", "variance"}, "out", {{"epsilon", 0.0F}});
  const auto built = build(file.model, Loss::kMeanSquaredError);
  ASSERT_OK(built);
  // Mean 65536 and variance 0.18 are exact in float32; the deviation is not.
  const std::vector<float> x{65536.0F - 0.5F, 65536.0F - 0.34375F, 65536.0F + 0.34375F, 65536.0F + 0.5F};
  const double deviation = std::sqrt((2 * 0.25 + 2 * 0.34375 * 0.34375) / 4);
  std::vector<float> outputs(4);
  ASSERT_OK(trainer_of(built->package)->predict(built->package.initial, x, 4, outputs));
  for (std::size_t i = 0; i < 4; ++i) {
    const double wanted = (static_cast<double>(x[i]) - 65536.0) / deviation + 0.25;
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, wanted, static_cast<double>(outputs[i]));
  }
}

TEST("InstanceNormalization, LayerNormalization and GroupNormalization have correct gradients") {
  const auto normalized = [](const std::string& op, std::int64_t scales, Attributes attributes, int opset) {
    FileBuilder file({4, 3, 2}, opset);
    file.weight("w", {2, 2})
        .node("MatMul", {"x", "w"}, "h")
        .weight("gamma", {scales}, 1)
        .weight("beta", {scales});
    file.node(op, {"h", "gamma", "beta"}, "out", std::move(attributes));
    return file;
  };
  expect_gradient(normalized("InstanceNormalization", 4, {}, 13), 3, Loss::kMeanSquaredError, 5e-3);
  expect_gradient(normalized("GroupNormalization", 4, {{"num_groups", std::int64_t{2}}}, 21), 3,
                  Loss::kMeanSquaredError, 5e-3);
  expect_gradient(normalized("LayerNormalization", 2, {{"epsilon", 0.1F}}, 17), 3, Loss::kMeanSquaredError,
                  3e-3);
}
