#include "tests/models/gradient_cases.h"

using namespace aflguard;
using namespace aflguard::models;
using namespace aflguard::models::testing;

namespace {

/// x * w, then the activation.
FileBuilder activated(const std::string& op, Attributes attributes = {}, int opset = 14) {
  FileBuilder file({5}, opset);
  file.weight("w", {5, 6}).node("MatMul", {"x", "w"}, "h").node(op, {"h"}, "out", std::move(attributes));
  return file;
}

/// The same on exp(x * w), for functions that need positive arguments.
FileBuilder of_positive(const std::string& op) {
  FileBuilder file({5});
  file.weight("w", {5, 6}).node("MatMul", {"x", "w"}, "h").node("Exp", {"h"}, "e").node(op, {"e"}, "out");
  return file;
}

}  // namespace

TEST("Relu, LeakyRelu, Sigmoid and Tanh have correct gradients") {
  expect_gradient(activated("Relu"), 1);
  expect_gradient(activated("LeakyRelu"), 1);
  expect_gradient(activated("LeakyRelu", {{"alpha", 0.3F}}), 1);
  expect_gradient(activated("Sigmoid"), 1);
  expect_gradient(activated("Tanh"), 1);
}

TEST("HardSwish and HardSigmoid have correct gradients, also with other slopes") {
  expect_gradient(activated("HardSwish"), 1);
  expect_gradient(activated("HardSigmoid"), 1);
  expect_gradient(activated("HardSigmoid", {{"alpha", 0.4F}, {"beta", 0.3F}}), 1);
}

TEST("Elu, Selu, Celu, Softplus, Softsign, Gelu and Mish have correct gradients") {
  expect_gradient(activated("Elu", {{"alpha", 0.7F}}), 1);
  expect_gradient(activated("Selu"), 1);
  expect_gradient(activated("Celu", {{"alpha", 1.5F}}), 1);
  expect_gradient(activated("Softplus"), 1);
  expect_gradient(activated("Softsign"), 1);
  expect_gradient(activated("Gelu"), 1);
  expect_gradient(activated("Gelu", {{"approximate", std::string("tanh")}}), 1);
  expect_gradient(activated("Mish"), 1);
}

TEST("Exp, Abs, Erf, Sin, Cos, Neg, Log, Sqrt and Reciprocal have correct gradients") {
  for (const char* op : {"Exp", "Abs", "Erf", "Sin", "Cos", "Neg"}) expect_gradient(activated(op), 1);
  for (const char* op : {"Log", "Sqrt", "Reciprocal"})
    expect_gradient(of_positive(op), 1, Loss::kMeanSquaredError, 5e-3);
}

TEST("Clip takes its bounds as attributes in old files and as inputs in new ones") {
  expect_gradient(activated("Clip", {{"min", -0.4F}, {"max", 0.6F}}, 6 + 1), 1);
  expect_gradient(activated("Clip", {{"max", 0.5F}}, 10), 1);
  FileBuilder file({5});
  file.weight("w", {5, 6}).node("MatMul", {"x", "w"}, "h");
  file.node("Constant", {}, "low", {{"value", float_scalar(-0.3F)}});
  file.node("Clip", {"h", "low"}, "c");
  file.node("Constant", {}, "high", {{"value", float_scalar(0.4F)}});
  file.node("Clip", {"c", "", "high"}, "out");
  expect_gradient(file, 1);
}

TEST("Clip's bounds are settings, not parameters, even as initializers") {
  FileBuilder file({5});
  file.weight("w", {5, 6}).node("MatMul", {"x", "w"}, "h");
  file.model.initializers.push_back({"low", float_scalar(-0.3F)});
  file.node("Clip", {"h", "low"}, "out");
  expect_gradient(file, 1);
}

TEST("PRelu trains its slope, one for all or one per channel") {
  FileBuilder one({5});
  one.weight("w", {5, 6}).weight("slope", {1}, 0.3F);
  one.node("MatMul", {"x", "w"}, "h").node("PRelu", {"h", "slope"}, "out");
  expect_gradient(one, 2);
  FileBuilder many({2, 4, 4});
  many.weight("w", {3, 2, 3, 3}).weight("slope", {3, 1, 1}, 0.3F);
  many.node("Conv", {"x", "w"}, "h").node("PRelu", {"h", "slope"}, "out");
  expect_gradient(many, 2);
}

TEST("Softmax and LogSoftmax over any axis have correct gradients") {
  for (const char* op : {"Softmax", "LogSoftmax"}) {
    for (const std::int64_t axis : {1, 2, -1}) {
      FileBuilder file({4, 3});
      file.weight("w", {3, 5}).node("MatMul", {"x", "w"}, "h").node(op, {"h"}, "out", {{"axis", axis}});
      expect_gradient(file, 1);
    }
  }
}

TEST("Before opset 13, Softmax groups everything from its axis on") {
  FileBuilder file({4, 3}, 11);
  file.weight("w", {3, 5}).node("MatMul", {"x", "w"}, "h").node("Softmax", {"h"}, "out");
  const auto built = build(file.model, Loss::kMeanSquaredError);
  ASSERT_OK(built);
  const auto trainer = trainer_of(built->package);
  std::vector<float> outputs(20);
  ASSERT_OK(trainer->predict(*initial_theta(built->package, 1), std::vector<float>(12, 0.5F), 1, outputs));
  float total = 0;
  for (const float value : outputs) total += value;
  TEST_ASSERT_FLOAT_WITHIN(1e-5F, 1.0F, total);
  expect_gradient(file, 1);
}

TEST("Dropout is identity and says so") {
  FileBuilder file = activated("Dropout");
  const auto built = build(file.model, Loss::kMeanSquaredError);
  ASSERT_OK(built);
  TEST_ASSERT_EQUAL_size_t(1, built->notes.size());
  ASSERT_CONTAINS(built->notes.front(), "Dropout");
  expect_gradient(file, 1);
}
