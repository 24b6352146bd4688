#include <numeric>

#include "models/import/free_batch.h"
#include "tests/models/gradient_cases.h"

using namespace aflguard;
using namespace aflguard::models;
using namespace aflguard::models::testing;

namespace {

using Ints = std::vector<std::int64_t>;

std::string reshaped_text(const Shape& input, const Ints& target, std::optional<std::int64_t> fixed) {
  const auto shape = reshaped(input, constant_shape(target), fixed, false);
  return shape.ok() ? text(*shape) : shape.error().message;
}

Shape batch_of(const Ints& sample) {
  Shape shape = constant_shape(sample);
  shape.insert(shape.begin(), kBatchDim);
  return shape;
}

FileBuilder fixed_file(std::int64_t batch, const Ints& sample) {
  FileBuilder file(sample);
  file.model.inputs[0].dims[0] = {batch, ""};
  return file;
}

}  // namespace

TEST("A reshape in a file with a free batch keeps it where the rest allows") {
  TEST_ASSERT_EQUAL_STRING("[batch, 24]", reshaped_text(batch_of({4, 6}), {-1, 24}, {}).c_str());
  TEST_ASSERT_EQUAL_STRING("[4*batch, 6]", reshaped_text(batch_of({4, 6}), {-1, 6}, {}).c_str());
  TEST_ASSERT_EQUAL_STRING("[batch, 24]", reshaped_text(batch_of({4, 6}), {0, -1}, {}).c_str());
  TEST_ASSERT_EQUAL_STRING("[1, 24*batch]", reshaped_text(batch_of({4, 6}), {1, -1}, {}).c_str());
}

TEST("A reshape written for one batch size is freed at the place where the samples begin") {
  TEST_ASSERT_EQUAL_STRING("[batch, 24]", reshaped_text(batch_of({4, 6}), {8, -1}, 8).c_str());
  TEST_ASSERT_EQUAL_STRING("[batch, 24]", reshaped_text(batch_of({4, 6}), {8, 24}, 8).c_str());
  TEST_ASSERT_EQUAL_STRING("[batch, 24]", reshaped_text(batch_of({4, 6}), {-1, 24}, 8).c_str());
  TEST_ASSERT_EQUAL_STRING("[batch, 24]", reshaped_text(batch_of({4, 6}), {1, -1}, 1).c_str());
  TEST_ASSERT_EQUAL_STRING("[batch, 1, 24]", reshaped_text(batch_of({4, 6}), {1, 1, 24}, 1).c_str());
  TEST_ASSERT_EQUAL_STRING("[4*batch, 6]", reshaped_text(batch_of({4, 6}), {32, 6}, 8).c_str());
  TEST_ASSERT_EQUAL_STRING("[batch, 24]", reshaped_text(batch_of({4, 6}), {8, 24}, {}).c_str());
  const Shape inner{{4, false}, kBatchDim, {6, false}};
  TEST_ASSERT_EQUAL_STRING("[4, batch, 2, 3]", reshaped_text(inner, {4, 8, 2, 3}, 8).c_str());
}

TEST("A reshape that leaves no place for the batch is refused with both shapes") {
  const std::string message = reshaped_text(batch_of({4, 6}), {12, -1}, 8);
  ASSERT_CONTAINS(message, "[batch, 4, 6]");
  ASSERT_CONTAINS(message, "[12, 16]");
  ASSERT_CONTAINS(message, "dynamic batch");
}

TEST("Impossible reshapes are refused") {
  ASSERT_CONTAINS(reshaped_text(batch_of({4, 6}), {-1, 5}, {}), "cannot take the shape");
  ASSERT_CONTAINS(reshaped_text(batch_of({4, 6}), {-1, -1}, {}), "cannot take the shape");
  ASSERT_CONTAINS(reshaped_text(batch_of({4, 6}), {8, 5}, 8), "cannot take the shape");
  ASSERT_CONTAINS(reshaped_text(constant_shape(Ints{4}), {5}, {}), "cannot take the shape");
}

TEST("Files exported for one batch size work with every batch size") {
  for (const std::int64_t batch : {1, 8}) {
    FileBuilder file = fixed_file(batch, {2, 6, 6});
    file.weight("c", {3, 2, 3, 3}).weight("w", {48, 5}).ints("flat", {batch, 48});
    file.node("Conv", {"x", "c"}, "h").node("Reshape", {"h", "flat"}, "f").node("MatMul", {"f", "w"}, "out");
    expect_gradient(file, 2);
  }
}

TEST("A value repeated for a fixed number of samples is repeated for the batch") {
  FileBuilder file = fixed_file(4, {2, 3});
  file.weight("token", {1, 1, 3}).ints("target", {4, 1, 3}).node("Expand", {"token", "target"}, "t");
  expect_gradient(file.node("Concat", {"t", "x"}, "out", {{"axis", std::int64_t{1}}}), 1);
}

TEST("A constant with one row per sample of a fixed batch is refused: it cannot be freed") {
  FileBuilder file = fixed_file(4, {3});
  expect_refusal(file.weight("rows", {4, 3}).node("Add", {"x", "rows"}, "out"),
                 {"'the_out'", "[batch, 3]", "[4, 3]"});
}

TEST("Squeezing a batch of one away is refused") {
  FileBuilder file = fixed_file(1, {3});
  file.weight("s", {3}).node("Mul", {"x", "s"}, "h").ints("a", {0});
  expect_refusal(file.node("Squeeze", {"h", "a"}, "out"), {"'the_out'", "batch"});
}

TEST("Shape arithmetic of exporters is evaluated: Shape, Gather, Unsqueeze, Mul, Concat, Reshape") {
  FileBuilder file({4, 6}, 11);
  file.weight("w", {24, 3}).weight("s", {1}).node("Mul", {"x", "s"}, "h").node("Shape", {"h"}, "shape");
  const auto number = [](std::int64_t value) { return Attributes{{"value", int64_tensor({value}, {})}}; };
  file.node("Constant", {}, "zero", number(0))
      .node("Constant", {}, "one", number(1))
      .node("Constant", {}, "two", number(2));
  file.node("Gather", {"shape", "zero"}, "batch")
      .node("Gather", {"shape", "one"}, "rows")
      .node("Gather", {"shape", "two"}, "columns");
  file.node("Mul", {"rows", "columns"}, "size");
  file.node("Unsqueeze", {"batch"}, "b", {{"axes", Ints{0}}})
      .node("Unsqueeze", {"size"}, "n", {{"axes", Ints{0}}});
  file.node("Concat", {"b", "n"}, "target", {{"axis", std::int64_t{0}}})
      .node("Reshape", {"h", "target"}, "f");
  expect_gradient(file.node("MatMul", {"f", "w"}, "out"), 2);
}

TEST("One package computes every batch size: a batch's gradient is the mean of its samples'") {
  FileBuilder file({2, 6, 6});
  file.weight("c", {3, 2, 3, 3}).weight("w", {12, 4}).node("Conv", {"x", "c"}, "h").node("Relu", {"h"}, "r");
  file.node("MaxPool", {"r"}, "p", {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  file.node("Flatten", {"p"}, "f").node("MatMul", {"f", "w"}, "out");
  const auto built = build(file.model, Loss::kCrossEntropy);
  ASSERT_OK(built);
  const auto trainer = trainer_of(built->package);
  const std::size_t dimension = built->package.description.dimension();
  constexpr std::size_t kSamples = 32;
  std::vector<float> x(kSamples * 72);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 101) / 50.0F - 1;
  std::vector<std::int64_t> labels(kSamples);
  for (std::size_t i = 0; i < kSamples; ++i) labels[i] = static_cast<std::int64_t>(i % 4);
  std::vector<float> whole(dimension);
  ASSERT_OK(trainer->gradient(built->package.initial, {kSamples, x, labels, {}}, whole));
  for (const std::size_t size : {std::size_t{1}, std::size_t{4}, std::size_t{32}}) {
    std::vector<double> mean(dimension);
    for (std::size_t first = 0; first < kSamples; first += size) {
      std::vector<float> part(dimension);
      ASSERT_OK(trainer->gradient(
          built->package.initial,
          {size, std::span(x).subspan(first * 72, size * 72), std::span(labels).subspan(first, size), {}},
          part));
      for (std::size_t i = 0; i < dimension; ++i) mean[i] += part[i] * static_cast<double>(size) / kSamples;
    }
    for (std::size_t i = 0; i < dimension; ++i)
      TEST_ASSERT_FLOAT_WITHIN(1e-6F, whole[i], static_cast<float>(mean[i]));
  }
}
