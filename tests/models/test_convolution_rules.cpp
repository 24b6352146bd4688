#include "tests/models/gradient_cases.h"

using namespace aflguard;
using namespace aflguard::models;
using namespace aflguard::models::testing;

namespace {

using Ints = std::vector<std::int64_t>;

/// A first layer, so that the convolution's input gradient counts, then the convolution.
FileBuilder convolved(Ints sample, Ints weight, Attributes attributes, bool bias = true,
                      const char* op = "Conv") {
  const std::int64_t group =
      attributes.contains("group") ? std::get<std::int64_t>(attributes.at("group")) : 1;
  const std::int64_t filters = op == std::string("Conv") ? weight[0] : weight[1] * group;
  FileBuilder file(sample);
  Ints scale(sample.size(), 1);
  scale[0] = sample[0];
  file.weight("scale", scale, 1).weight("w", std::move(weight)).node("Mul", {"x", "scale"}, "h");
  std::vector<Value> inputs{"h", "w"};
  if (bias) {
    file.weight("bias", {filters});
    inputs.emplace_back("bias");
  }
  file.node(op, inputs, "out", std::move(attributes));
  return file;
}

}  // namespace

TEST("A convolution has correct gradients with and without bias") {
  expect_gradient(convolved({2, 6, 5}, {3, 2, 3, 3}, {}), 3);
  expect_gradient(convolved({2, 6, 5}, {3, 2, 3, 3}, {}, false), 2);
  expect_gradient(convolved({2, 6, 5}, {3, 2, 1, 1}, {}), 3);
  expect_gradient(convolved({2, 3, 3}, {4, 2, 3, 3}, {}), 3);
}

TEST("Stride, uneven padding and dilation have correct gradients in every combination") {
  for (const Ints& strides : {Ints{1, 1}, Ints{2, 3}}) {
    for (const Ints& dilations : {Ints{1, 1}, Ints{2, 1}}) {
      for (const Ints& pads : {Ints{0, 0, 0, 0}, Ints{1, 0, 2, 1}}) {
        const Attributes attributes{{"strides", strides}, {"dilations", dilations}, {"pads", pads}};
        expect_gradient(convolved({2, 8, 9}, {3, 2, 3, 2}, attributes), 3, Loss::kMeanSquaredError, 2e-3,
                        {3});
      }
    }
  }
}

TEST("Grouped and depthwise convolutions have correct gradients") {
  expect_gradient(convolved({4, 5, 5}, {6, 2, 3, 3}, {{"group", std::int64_t{2}}}), 3);
  expect_gradient(convolved({4, 6, 5}, {4, 1, 3, 3}, {{"group", std::int64_t{4}}, {"strides", Ints{2, 2}}}),
                  3);
  expect_gradient(
      convolved({3, 5, 5}, {6, 1, 2, 2}, {{"group", std::int64_t{3}}, {"pads", Ints{1, 1, 0, 0}}}), 3);
}

TEST("Padding asked for as SAME or VALID becomes explicit") {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"}) {
    const Attributes attributes{
        {"auto_pad", std::string(mode)}, {"strides", Ints{2, 1}}, {"dilations", Ints{1, 2}}};
    expect_gradient(convolved({2, 7, 8}, {3, 2, 4, 3}, attributes), 3, Loss::kMeanSquaredError, 5e-3, {3});
  }
}

TEST("Padding SAME gives the shape and the side that ONNX defines") {
  // One input, kernel of two ones: the uneven zero is behind for UPPER and in front for LOWER.
  for (const bool upper : {true, false}) {
    FileBuilder file({1, 3});
    file.model.initializers.push_back({"w", float_tensor({1, 1}, {1, 1, 2})});
    file.node("Conv", {"x", "w"}, "out", {{"auto_pad", std::string(upper ? "SAME_UPPER" : "SAME_LOWER")}});
    const auto built = build(file.model, Loss::kMeanSquaredError);
    ASSERT_OK(built);
    std::vector<float> outputs(3);
    ASSERT_OK(
        trainer_of(built->package)->predict(built->package.initial, std::vector<float>{1, 2, 4}, 1, outputs));
    TEST_ASSERT_EQUAL_FLOAT(upper ? 3.0F : 1.0F, outputs[0]);
    TEST_ASSERT_EQUAL_FLOAT(upper ? 4.0F : 6.0F, outputs[2]);
  }
}

TEST("Kernels with many taps have correct gradients, also in groups and with leftovers") {
  expect_gradient(convolved({1, 9, 9}, {2, 1, 6, 6}, {}), 3, Loss::kMeanSquaredError, 5e-3, {1, 3});
  expect_gradient(convolved({2, 13, 12}, {2, 2, 7, 5}, {{"strides", Ints{3, 2}}, {"pads", Ints{1, 2, 0, 3}}}),
                  3, Loss::kMeanSquaredError, 5e-3, {1, 3});
  expect_gradient(convolved({4, 14, 13}, {6, 2, 6, 6},
                            {{"group", std::int64_t{2}}, {"dilations", Ints{2, 1}}, {"strides", Ints{1, 2}}}),
                  3, Loss::kMeanSquaredError, 5e-3, {1, 3});
}

TEST("One- and three-dimensional convolutions have correct gradients") {
  expect_gradient(convolved({3, 12}, {4, 3, 5}, {{"strides", Ints{2}}, {"pads", Ints{2, 1}}}), 3);
  expect_gradient(convolved({4, 12}, {4, 2, 3}, {{"dilations", Ints{2}}, {"group", std::int64_t{2}}}), 3);
  expect_gradient(convolved({2, 40}, {2, 2, 35}, {}), 3);
  expect_gradient(convolved({2, 4, 5, 4}, {2, 2, 3, 2, 2}, {{"strides", Ints{1, 2, 1}}}), 3);
}

TEST("Transposed convolutions have correct gradients") {
  expect_gradient(convolved({3, 4, 4}, {3, 2, 3, 3}, {}, true, "ConvTranspose"), 3);
  const Attributes attributes{{"strides", Ints{2, 2}},
                              {"pads", Ints{1, 1, 1, 1}},
                              {"output_padding", Ints{1, 1}},
                              {"group", std::int64_t{2}}};
  expect_gradient(convolved({4, 4, 4}, {4, 3, 3, 3}, attributes, true, "ConvTranspose"), 3);
}
