#include "tests/models/gradient_cases.h"

using namespace aflguard;
using namespace aflguard::models;
using namespace aflguard::models::testing;

namespace {

using Ints = std::vector<std::int64_t>;

/// A trained value per input element, then the pool.
FileBuilder pooled(const std::string& op, Attributes attributes, Ints sample = {2, 7, 6}) {
  FileBuilder file(sample);
  file.weight("scale", sample, 1)
      .node("Mul", {"x", "scale"}, "h")
      .node(op, {"h"}, "out", std::move(attributes));
  return file;
}

std::vector<float> outputs_of(const FileBuilder& file, const std::vector<float>& x) {
  const auto built = build(file.model, Loss::kMeanSquaredError);
  ASSERT_OK(built);
  std::vector<float> outputs(built->package.description.output_size());
  ASSERT_OK(trainer_of(built->package)->predict(built->package.initial, x, 1, outputs));
  return outputs;
}

/// A pool over one channel whose trained factor is 1.
FileBuilder plain_pool(const std::string& op, Attributes attributes, std::int64_t extent) {
  FileBuilder file({1, extent});
  file.model.initializers.push_back({"one", float_tensor({1}, {1})});
  file.node("Mul", {"x", "one"}, "h").node(op, {"h"}, "out", std::move(attributes));
  return file;
}

}  // namespace

TEST("Max pooling has correct gradients: tiles, overlapping, gaps, padded, dilated, one dimension") {
  const Ints two{2, 2};
  const Ints three{3, 3};
  expect_gradient(pooled("MaxPool", {{"kernel_shape", two}, {"strides", two}}), 1);
  expect_gradient(pooled("MaxPool", {{"kernel_shape", three}, {"strides", two}}), 1);
  expect_gradient(pooled("MaxPool", {{"kernel_shape", three}}), 1);
  expect_gradient(pooled("MaxPool", {{"kernel_shape", two}, {"strides", three}}), 1);
  expect_gradient(pooled("MaxPool", {{"kernel_shape", three}, {"strides", two}, {"pads", Ints{1, 1, 1, 0}}}),
                  1);
  expect_gradient(pooled("MaxPool", {{"kernel_shape", three}, {"dilations", two}}), 1);
  expect_gradient(pooled("MaxPool", {{"kernel_shape", three}, {"auto_pad", std::string("SAME_UPPER")}}), 1);
  expect_gradient(pooled("MaxPool", {{"kernel_shape", Ints{3}}, {"strides", Ints{2}}}, {2, 9}), 1);
}

TEST("Max pooling with ceil_mode has correct gradients, also where padding would exceed the kernel") {
  for (const Ints& strides : {Ints{2, 2}, Ints{3, 2}}) {
    for (const Ints& pads : {Ints{0, 0, 0, 0}, Ints{1, 1, 1, 1}}) {
      expect_gradient(pooled("MaxPool", {{"kernel_shape", Ints{3, 3}},
                                         {"strides", strides},
                                         {"pads", pads},
                                         {"ceil_mode", std::int64_t{1}}}),
                      1);
    }
  }
  expect_gradient(pooled("MaxPool", {{"kernel_shape", Ints{2, 2}},
                                     {"strides", Ints{3, 4}},
                                     {"dilations", Ints{3, 3}},
                                     {"ceil_mode", std::int64_t{1}}}),
                  1);
}

TEST("Equal values in a window: the gradient goes to one of them, not to all") {
  const FileBuilder file =
      pooled("MaxPool", {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}, {1, 4, 4});
  const auto built = build(file.model, Loss::kMeanSquaredError);
  ASSERT_OK(built);
  const std::vector<float> theta(16, 1.0F);
  const std::vector<float> x(16, 1.0F);
  const std::vector<float> y(4, 0.0F);
  std::vector<float> gradient(16);
  ASSERT_OK(trainer_of(built->package)->gradient(theta, Batch{1, x, {}, y}, gradient));
  std::size_t reached = 0;
  for (const float value : gradient) reached += value != 0 ? 1 : 0;
  TEST_ASSERT_EQUAL_size_t(4, reached);  // one per window
}

TEST("Average pooling has correct gradients: tiles, overlapping, padded both ways, ceil_mode") {
  for (const std::int64_t include : {0, 1}) {
    for (const std::int64_t ceil : {0, 1}) {
      for (const Ints& pads : {Ints{0, 0, 0, 0}, Ints{1, 0, 1, 1}}) {
        for (const Ints& kernel : {Ints{2, 2}, Ints{3, 2}}) {
          expect_gradient(pooled("AveragePool", {{"kernel_shape", kernel},
                                                 {"strides", Ints{2, 2}},
                                                 {"pads", pads},
                                                 {"ceil_mode", ceil},
                                                 {"count_include_pad", include}}),
                          1, Loss::kMeanSquaredError, 5e-3, {3});
        }
      }
    }
  }
  expect_gradient(pooled("AveragePool", {{"kernel_shape", Ints{3}}}, {2, 7}), 1);
}

TEST("Average pooling counts padding only when asked, and never what ceil_mode adds") {
  const Attributes base{{"kernel_shape", Ints{2}}, {"strides", Ints{2}}, {"pads", Ints{1, 0}}};
  Attributes excluded = base;
  Attributes included = base;
  included["count_include_pad"] = std::int64_t{1};
  // [0] 2 | 4 6 | 8 -> with ceil_mode a third window holds 8 alone
  excluded["ceil_mode"] = included["ceil_mode"] = std::int64_t{1};
  const std::vector<float> x{2, 4, 6, 8};
  const auto without = outputs_of(plain_pool("AveragePool", excluded, 4), x);
  const auto with = outputs_of(plain_pool("AveragePool", included, 4), x);
  TEST_ASSERT_EQUAL_size_t(3, without.size());
  const float expected_without[] = {2, 5, 8};
  const float expected_with[] = {1, 5, 8};
  TEST_ASSERT_EQUAL_FLOAT_ARRAY(expected_without, without.data(), 3);
  TEST_ASSERT_EQUAL_FLOAT_ARRAY(expected_with, with.data(), 3);
}

TEST("With ceil_mode, a window that would start in the padding behind the input is dropped") {
  const Attributes attributes{
      {"kernel_shape", Ints{2}}, {"strides", Ints{3}}, {"pads", Ints{0, 1}}, {"ceil_mode", std::int64_t{1}}};
  TEST_ASSERT_EQUAL_size_t(1, outputs_of(plain_pool("MaxPool", attributes, 3), {1, 2, 3}).size());
}

TEST("A pool behind a node that pads more than the pool's kernel has a correct gradient") {
  for (const char* op : {"AveragePool", "MaxPool"}) {
    FileBuilder file({2, 5, 5});
    file.weight("scale", {2, 5, 5}, 1).ints("pads", {0, 0, 3, 2, 0, 0, 2, 3});
    file.node("Mul", {"x", "scale"}, "h").node("Pad", {"h", "pads"}, "p");
    file.node(op, {"p"}, "out", {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{1, 2}}});
    expect_gradient(file, 1);
  }
}

TEST("Global pooling has correct gradients") {
  expect_gradient(pooled("GlobalAveragePool", {}), 1);
  expect_gradient(pooled("GlobalMaxPool", {}), 1);
}

TEST("Pooling before the rectifier instead of behind it changes nothing") {
  FileBuilder file({2, 6, 6});
  file.weight("w", {3, 2, 3, 3}).node("Conv", {"x", "w"}, "c").node("Relu", {"c"}, "r");
  file.node("MaxPool", {"r"}, "p", {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  file.node("LeakyRelu", {"p"}, "l", {{"alpha", 0.1F}})
      .node("MaxPool", {"l"}, "out", {{"kernel_shape", Ints{2, 2}}});
  expect_gradient(file, 1);
}
