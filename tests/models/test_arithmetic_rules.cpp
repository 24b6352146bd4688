#include "tests/models/gradient_cases.h"

using namespace aflguard;
using namespace aflguard::models;
using namespace aflguard::models::testing;

namespace {

/// x [B, 3, 4] with an operand of any shape that broadcasts, on either side.
FileBuilder with_operand(const std::string& op, std::vector<std::int64_t> shape, bool first) {
  FileBuilder file({3, 4});
  file.weight("w", {4, 4}).weight("operand", std::move(shape), 2.0F);
  file.node("MatMul", {"x", "w"}, "product").node("Softplus", {"product"}, "h");
  file.node(op, first ? std::vector<Value>{"operand", "h"} : std::vector<Value>{"h", "operand"}, "out");
  return file;
}

}  // namespace

TEST("Add, Sub, Mul and Div sum the gradient of an operand over what it was broadcast along") {
  for (const char* op : {"Add", "Sub", "Mul"}) {
    for (const auto& shape : std::vector<std::vector<std::int64_t>>{{4}, {3, 1}, {1, 3, 4}, {}, {1}}) {
      expect_gradient(with_operand(op, shape, false), 2);
      expect_gradient(with_operand(op, shape, true), 2);
    }
  }
  for (const auto& shape : std::vector<std::vector<std::int64_t>>{{4}, {3, 1}, {}}) {
    expect_gradient(with_operand("Div", shape, false), 2);
    expect_gradient(with_operand("Div", shape, true), 2, Loss::kMeanSquaredError, 5e-3);
  }
}

TEST("Max and Min send the gradient to the larger or smaller operand") {
  for (const char* op : {"Max", "Min"}) expect_gradient(with_operand(op, {4}, false), 2);
}

TEST("Sum, Mean, Max and Min take any number of inputs") {
  for (const char* op : {"Sum", "Mean", "Max", "Min"}) {
    FileBuilder file({4});
    file.weight("a", {4}).weight("b", {1}).weight("c", {4});
    file.node("Mul", {"x", "a"}, "h").node(op, {"h", "b", "x", "c"}, "out");
    expect_gradient(file, 3);
  }
}

TEST("Pow with a constant exponent has a correct gradient and does not train the exponent") {
  for (const float exponent : {1.0F, 2.0F, 3.0F, 1.5F, -1.0F}) {
    FileBuilder file({4});
    file.weight("a", {4}).node("Mul", {"x", "a"}, "h").node("Softplus", {"h"}, "p");
    file.model.initializers.push_back({"exponent", float_scalar(exponent)});
    file.node("Pow", {"p", "exponent"}, "out");
    expect_gradient(file, 1, Loss::kMeanSquaredError, 5e-3);
  }
}

TEST("Pow takes an integer exponent, also one that is cast as exporters write it") {
  for (const bool cast : {false, true}) {
    FileBuilder file({4});
    file.model.initializers.push_back({"three", {ElementType::kInt64, {}, int64_vector({3}).data}});
    file.weight("a", {4}).node("Mul", {"x", "a"}, "h");
    if (cast) file.node("Cast", {"three"}, "e", {{"to", static_cast<std::int64_t>(ElementType::kFloat)}});
    file.node("Pow", {"h", cast ? "e" : "three"}, "out");
    expect_gradient(file, 1);
  }
}

TEST("Where sends the gradient to the chosen side") {
  FileBuilder file({4});
  file.weight("a", {4}).weight("b", {1}).node("Mul", {"x", "a"}, "h");
  file.node("Constant", {}, "zero", {{"value", float_scalar(0)}});
  file.node("Greater", {"x", "zero"}, "positive").node("Where", {"positive", "h", "b"}, "out");
  expect_gradient(file, 2);
}

TEST("A parameter that is used twice gets the sum of its gradients") {
  FileBuilder file({4});
  file.weight("w", {4, 4})
      .node("MatMul", {"x", "w"}, "a")
      .node("Tanh", {"a"}, "b")
      .node("MatMul", {"b", "w"}, "c");
  file.node("Identity", {"w"}, "alias").node("MatMul", {"c", "alias"}, "out");
  expect_gradient(file, 1);
}

TEST("MatMul has correct gradients for matrices, batches, broadcast batches and vectors") {
  const auto product = [](std::vector<std::int64_t> sample, std::vector<std::int64_t> weight,
                          bool first = false) {
    FileBuilder file(std::move(sample));
    file.weight("s", {1}, 1).weight("w", std::move(weight)).node("Mul", {"x", "s"}, "h");
    file.node("MatMul", first ? std::vector<Value>{"w", "h"} : std::vector<Value>{"h", "w"}, "out");
    return file;
  };
  expect_gradient(product({4}, {4, 3}), 2);
  expect_gradient(product({2, 4}, {4, 3}), 2);
  expect_gradient(product({2, 5, 4}, {4, 3}), 2);
  expect_gradient(product({2, 5, 4}, {2, 4, 3}), 2);
  expect_gradient(product({2, 5, 4}, {1, 4, 3}), 2);
  expect_gradient(product({5, 4}, {4}), 2);
  expect_gradient(product({4}, {4}), 2);
  expect_gradient(product({5, 4}, {3, 5}, true), 2);
  expect_gradient(product({5, 4}, {5}, true), 2);
}

TEST("MatMul of two values that both depend on the batch has a correct gradient") {
  FileBuilder file({3, 4});
  file.weight("w", {4, 5}).weight("v", {4, 5});
  file.node("MatMul", {"x", "w"}, "q").node("MatMul", {"x", "v"}, "k");
  file.node("Transpose", {"k"}, "t", {{"perm", Axes{0, 2, 1}}}).node("MatMul", {"q", "t"}, "out");
  expect_gradient(file, 2);
}

TEST("Gemm has correct gradients for every transpose, with factors and broadcast biases") {
  for (const std::int64_t transposed : {0, 1}) {
    for (const auto& bias : std::vector<std::vector<std::int64_t>>{{3}, {1, 3}, {1}, {}}) {
      FileBuilder file({4});
      file.weight("s", {1}, 1)
          .weight("w", transposed ? std::vector<std::int64_t>{3, 4} : std::vector<std::int64_t>{4, 3});
      file.weight("c", bias).node("Mul", {"x", "s"}, "h");
      file.node("Gemm", {"h", "w", "c"}, "out", {{"transB", transposed}, {"alpha", 0.7F}, {"beta", 1.3F}});
      expect_gradient(file, 3);
    }
  }
}

TEST("Gemm's first operand may be transposed, and parameters may stand on its left") {
  for (const std::int64_t transposed : {0, 1}) {
    FileBuilder file({4});
    file.weight("w", {6, 4})
        .weight("v", transposed ? std::vector<std::int64_t>{3, 6} : std::vector<std::int64_t>{6, 3});
    file.node("Gemm", {"w", "x"}, "h", {{"transB", std::int64_t{1}}});  // [6, batch]
    file.node("Gemm", {"h", "v"}, "out", {{"transA", std::int64_t{1}}, {"transB", transposed}});
    expect_gradient(file, 2);
  }
}

TEST("Building notes a parameter that the file uses under two names") {
  FileBuilder file({4});
  file.weight("w", {4})
      .node("Identity", {"w"}, "v")
      .node("Mul", {"x", "w"}, "h")
      .node("Mul", {"h", "v"}, "out");
  const auto built = build(file.model, Loss::kMeanSquaredError);
  ASSERT_OK(built);
  ASSERT_CONTAINS(built->notes.front(), "'v' is the same tensor as 'w'");
}
