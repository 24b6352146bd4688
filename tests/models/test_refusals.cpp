#include "models/onnx_file/onnx_file.h"
#include "tests/models/gradient_cases.h"

using namespace aflguard;
using namespace aflguard::models;
using namespace aflguard::models::testing;

namespace {

using Ints = std::vector<std::int64_t>;

FileBuilder dense(int opset = 13) {
  FileBuilder file({4}, opset);
  file.weight("w", {4, 3});
  return file;
}

}  // namespace

TEST("An operator without an import rule is refused with node and operator") {
  FileBuilder file = dense();
  expect_refusal(file.node("MatMul", {"x", "w"}, "h").node("Einsum", {"h"}, "out"),
                 {"'the_out'", "(Einsum)", "docs/models.md"});
}

TEST("An operator of another domain is refused with its domain") {
  FileBuilder file = dense();
  file.node("MatMul", {"x", "w"}, "out").model.nodes.back().op.domain = "com.acme";
  expect_refusal(file, {"com.acme::MatMul"});
}

TEST("An operator without a gradient rule is refused only where a gradient must pass") {
  FileBuilder needed = dense();
  expect_refusal(needed.node("MatMul", {"x", "w"}, "h").node("Floor", {"h"}, "out"),
                 {"'the_out'", "(Floor)", "no gradient rule"});
  FileBuilder harmless = dense();
  harmless.node("Floor", {"x"}, "whole").node("MatMul", {"whole", "w"}, "out");
  expect_gradient(harmless, 1);
}

TEST("A dynamic dimension other than the batch is refused with input and dimension") {
  FileBuilder file = dense();
  file.model.inputs[0].dims.push_back({std::nullopt, "height"});
  expect_refusal(file.node("MatMul", {"x", "w"}, "out"), {"'x'", "dimension 2", "'height'", "dynamic"});
}

TEST("Inputs that are neither float32 nor ids, or have no shape, are refused") {
  FileBuilder bytes = dense();
  bytes.model.inputs[0].type = ElementType::kUint8;
  expect_refusal(bytes.node("MatMul", {"x", "w"}, "out"), {"'x'", "uint8", "float32", "int64"});
  FileBuilder ids = dense();
  ids.model.inputs[0].type = ElementType::kInt64;
  expect_refusal(ids.node("MatMul", {"x", "w"}, "out"), {"'the_out'", "input 0 is int64"});
  FileBuilder shapeless = dense();
  shapeless.model.inputs[0].has_shape = false;
  expect_refusal(shapeless.node("MatMul", {"x", "w"}, "out"), {"'x'", "no shape"});
}

TEST("Several inputs or outputs are refused by name; an output can be chosen") {
  FileBuilder inputs = dense();
  inputs.model.inputs.push_back(inputs.model.inputs[0]);
  inputs.model.inputs[1].name = "mask";
  expect_refusal(inputs.node("MatMul", {"x", "w"}, "out"), {"2 inputs", "'mask'"});
  FileBuilder outputs = dense();
  outputs.node("MatMul", {"x", "w"}, "h").node("Tanh", {"h"}, "out").model.outputs = {"out", "h"};
  expect_refusal(outputs, {"2 outputs", "'h'", "--output"});
  ASSERT_OK(build(outputs.model, Loss::kMeanSquaredError, {"h", {}}));
  ASSERT_CONTAINS(message_of(build(outputs.model, Loss::kMeanSquaredError, {"nothing", {}})), "'nothing'");
}

TEST("Weights of other types are refused by name") {
  FileBuilder file({4});
  file.model.initializers.push_back({"w", Tensor{ElementType::kDouble, {4, 3}, std::vector<std::byte>(96)}});
  expect_refusal(file.node("MatMul", {"x", "w"}, "out"), {"'w'", "float64", "float32"});
}

TEST("Operator sets that are too old or too new are refused with the range") {
  expect_refusal(dense(6).node("MatMul", {"x", "w"}, "out"), {"operator set 6", "7 to"});
  expect_refusal(dense(99).node("MatMul", {"x", "w"}, "out"), {"operator set 99"});
}

TEST("Shapes that do not fit are refused with node and shapes") {
  FileBuilder file({5});
  file.weight("w", {4, 3});
  expect_refusal(file.node("MatMul", {"x", "w"}, "out"), {"'the_out'", "[batch, 5]", "[4, 3]"});
  FileBuilder conv({2, 4, 4});
  expect_refusal(conv.weight("w", {3, 2, 7, 7}).node("Conv", {"x", "w"}, "out"),
                 {"'the_out'", "does not fit"});
}

TEST("A model without parameters is refused") {
  FileBuilder file({4});
  expect_refusal(file.node("Relu", {"x"}, "out"), {"no parameters"});
}

TEST("Mixing the samples of a batch is refused: joining, splitting, slicing and picking along it") {
  FileBuilder join = dense();
  expect_refusal(join.node("Concat", {"x", "x"}, "out", {{"axis", std::int64_t{0}}}), {"'the_out'", "batch"});
  FileBuilder slice = dense();
  slice.ints("s", {0}).ints("e", {2}).ints("a", {0}).node("Slice", {"x", "s", "e", "a"}, "out");
  expect_refusal(slice, {"batch dimension cannot be sliced"});
  FileBuilder pick = dense();
  expect_refusal(pick.ints("at", {1}).node("Gather", {"x", "at"}, "out"), {"samples out of the batch"});
  FileBuilder split = dense();
  split.model.nodes.push_back({{"", "Split"}, {"x"}, {"a", "out"}, {}, "halves"});
  expect_refusal(split, {"'halves'", "batch"});
}

TEST("Settings computed from the data are refused") {
  FileBuilder file = dense();
  file.node("MatMul", {"x", "w"}, "h")
      .node("Cast", {"h"}, "i", {{"to", std::int64_t{7}}})
      .node("Reshape", {"x", "i"}, "out");
  expect_refusal(file, {"'the_out'", "computed at run time"});
}

TEST("Forms of supported operators that have no rule are refused with the reason") {
  FileBuilder pad = dense();
  expect_refusal(pad.ints("p", {0, 1, 0, 1}).node("Pad", {"x", "p"}, "out", {{"mode", std::string("wrap")}}),
                 {"'wrap'"});
  FileBuilder backwards({4});
  backwards.weight("v", {4})
      .node("Mul", {"x", "v"}, "h")
      .ints("s", {3})
      .ints("e", {-9})
      .ints("a", {1})
      .ints("t", {-1});
  expect_refusal(backwards.node("Slice", {"h", "s", "e", "a", "t"}, "out"), {"backwards"});
  FileBuilder exponent({3});
  expect_refusal(exponent.weight("p", {3}).node("Pow", {"x", "p"}, "out"), {"constant exponent"});
  FileBuilder dilated({2, 6, 6});
  dilated.weight("v", {1}).node("Mul", {"x", "v"}, "h");
  expect_refusal(
      dilated.node("AveragePool", {"h"}, "out", {{"kernel_shape", Ints{2, 2}}, {"dilations", Ints{2, 2}}}),
      {"dilation"});
  FileBuilder spatial({3});
  spatial.weight("a", {3}).weight("b", {3}).weight("c", {3}).weight("d", {3});
  expect_refusal(
      spatial.node("BatchNormalization", {"x", "a", "b", "c", "d"}, "out", {{"spatial", std::int64_t{0}}}),
      {"spatial"});
}

TEST("Broken files are refused: a value made twice, a value that nothing makes, a node without output") {
  FileBuilder twice = dense();
  expect_refusal(twice.node("MatMul", {"x", "w"}, "out").node("Tanh", {"x"}, "out"), {"'out' is made twice"});
  FileBuilder missing = dense();
  expect_refusal(missing.node("MatMul", {"nowhere", "w"}, "out"), {"'nowhere'"});
  FileBuilder silent = dense();
  silent.model.nodes.push_back({{"", "Relu"}, {"x"}, {}, {}, "silent"});
  expect_refusal(silent, {"'silent'", "no output"});
}

TEST("Weights that are Constant nodes are trained with the bias added behind them, or frozen by name") {
  FileBuilder file({4});
  file.node("Constant", {}, "w", {{"value", float_tensor({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2})}});
  file.node("Constant", {}, "b", {{"value", float_tensor({1, 2}, {2})}});
  file.node("Constant", {}, "shift", {{"value", float_tensor({1, 2}, {2})}});
  file.node("MatMul", {"x", "w"}, "h").node("Add", {"h", "b"}, "s").node("Mul", {"s", "shift"}, "out");
  expect_gradient(file, 2);
  const auto frozen = build(file.model, Loss::kMeanSquaredError, {"", {"w"}});
  ASSERT_OK(frozen);
  TEST_ASSERT_EQUAL_size_t(1, frozen->package.description.parameters.size());
}

TEST("A name with two values and a node without inputs are refused") {
  FileBuilder twice = dense();
  expect_refusal(twice.weight("w", {4, 3}).node("MatMul", {"x", "w"}, "out"), {"'w'", "two values"});
  FileBuilder empty = dense();
  expect_refusal(empty.node("Add", {}, "out"), {"'the_out'", "input 0 is missing"});
}

TEST("Freezing keeps an initializer constant; an unknown name is refused") {
  FileBuilder file = dense();
  file.weight("b", {3}).node("MatMul", {"x", "w"}, "h").node("Add", {"h", "b"}, "out");
  const auto built = build(file.model, Loss::kMeanSquaredError, {"", {"w"}});
  ASSERT_OK(built);
  TEST_ASSERT_EQUAL_size_t(3, built->package.description.dimension());
  ASSERT_CONTAINS(message_of(build(file.model, Loss::kMeanSquaredError, {"", {"v"}})), "'v'");
}

TEST("An initializer that the output does not use is left out with a note") {
  FileBuilder file = dense();
  file.weight("spare", {3}).node("MatMul", {"x", "w"}, "out");
  const auto built = build(file.model, Loss::kMeanSquaredError);
  ASSERT_OK(built);
  TEST_ASSERT_EQUAL_size_t(12, built->package.description.dimension());
  ASSERT_CONTAINS(built->notes.front(), "'spare'");
}

TEST("Bytes that are not an ONNX model are refused") {
  ASSERT_CONTAINS(message_of(parse_onnx("certainly not a model")), "not an ONNX");
  ASSERT_CONTAINS(message_of(parse_onnx("")), "not an ONNX");
  const aflguard::testing::TemporaryFolder folder;
  ASSERT_CONTAINS(message_of(read_onnx(folder / "missing.onnx")), "missing.onnx");
}
