#include "tests/models/gradient_cases.h"

using namespace aflguard;
using namespace aflguard::models;
using namespace aflguard::models::testing;

namespace {

using Ints = std::vector<std::int64_t>;

/// Samples of ids that are looked up in a table of `rows`.
FileBuilder embedding(Ints sample, std::int64_t rows, ElementType type = ElementType::kInt64) {
  FileBuilder file(std::move(sample));
  file.takes(type).weight("table", {rows, 3});
  return file;
}

}  // namespace

TEST("An embedding of the input's ids has correct gradients, also where an id comes many times") {
  FileBuilder few = embedding({5}, 4);
  expect_gradient(few.node("Gather", {"table", "x"}, "out"), 1);
  FileBuilder many = embedding({2, 3}, 40);
  expect_gradient(many.node("Gather", {"table", "x"}, "out"), 1);
  FileBuilder narrow = embedding({5}, 4, ElementType::kInt32);
  expect_gradient(narrow.node("Gather", {"table", "x"}, "out"), 1);
}

TEST("Looking up along another axis than the first has correct gradients") {
  FileBuilder file({4});
  file.takes(ElementType::kInt64).weight("table", {2, 6, 3});
  file.node("Gather", {"table", "x"}, "rows", {{"axis", std::int64_t{-2}}});
  file.node("Transpose", {"rows"}, "out", {{"perm", Ints{1, 0, 2, 3}}});
  expect_gradient(file, 1);
}

TEST("A table of constant indices has correct gradients, for parameters and for samples") {
  Ints pairs;
  for (std::int64_t i = 0; i < 300; ++i) pairs.push_back(i * 7 % 11 - 5);
  FileBuilder parameter({4, 5});
  parameter.weight("table", {11, 1});
  parameter.model.initializers.push_back({"at", int64_tensor(pairs, {60, 5})});
  parameter.node("Gather", {"table", "at"}, "rows").ints("s", {1, 60, 5});
  parameter.node("Reshape", {"rows", "s"}, "r").ints("a", {1}).node("ReduceSum", {"r", "a"}, "m");
  parameter.node("Add", {"x", "m"}, "out");
  expect_gradient(parameter, 1);
  FileBuilder samples({11, 2});
  samples.weight("scale", {11, 2}).node("Mul", {"x", "scale"}, "h");
  samples.model.initializers.push_back({"at", int64_tensor(pairs, {300})});
  samples.node("Gather", {"h", "at"}, "out", {{"axis", std::int64_t{1}}});
  expect_gradient(samples, 1, Loss::kMeanSquaredError, 5e-3, {1, 3});
}

TEST("A package says how many ids its smallest table takes") {
  FileBuilder file = embedding({5}, 40);
  file.weight("small", {7, 3}).ints("s", {-1, 5}).node("Reshape", {"x", "s"}, "same");
  file.node("Gather", {"table", "x"}, "a")
      .node("Gather", {"small", "same"}, "b")
      .node("Add", {"a", "b"}, "out");
  const auto built = build(file.model, Loss::kMeanSquaredError);
  ASSERT_OK(built);
  TEST_ASSERT_TRUE(built->package.description.input_type == InputType::kInt64);
  TEST_ASSERT_EQUAL_INT64(7, built->package.description.input_ids);
}

TEST("Ids that are computed with are no limit, and counts can be trained on") {
  FileBuilder file({5});
  file.takes(ElementType::kInt64).weight("w", {5, 2});
  file.node("Cast", {"x"}, "f", {{"to", std::int64_t{1}}}).node("MatMul", {"f", "w"}, "out");
  const auto built = build(file.model, Loss::kMeanSquaredError);
  ASSERT_OK(built);
  TEST_ASSERT_EQUAL_INT64(kMaxInputIds, built->package.description.input_ids);
  expect_gradient(file, 1);
}

TEST("A trainer refuses what is not an id, with its place and the limit") {
  FileBuilder file = embedding({2}, 4);
  const auto built = build(file.node("Gather", {"table", "x"}, "out").model, Loss::kMeanSquaredError);
  ASSERT_OK(built);
  const auto trainer = trainer_of(built->package);
  const auto theta = initial_theta(built->package, 1);
  ASSERT_OK(theta);
  std::vector<float> gradient(theta->size());
  std::vector<float> outputs(12);
  const std::vector<float> targets(12);
  for (const float odd : {4.0F, -1.0F, 0.5F, std::numeric_limits<float>::quiet_NaN()}) {
    const std::vector<float> ids{0, 1, 3, odd};
    const auto message = message_of(trainer->gradient(*theta, {2, ids, {}, targets}, gradient));
    ASSERT_CONTAINS(message, "number 1 of sample 1");
    ASSERT_CONTAINS(message, "whole numbers from 0 to 3");
    ASSERT_CONTAINS(message_of(trainer->predict(*theta, ids, 2, outputs)), "number 1 of sample 1");
  }
  ASSERT_OK(trainer->gradient(*theta, {2, std::vector<float>{0, 1, 3, 3}, {}, targets}, gradient));
}

TEST("Lookups that cannot be trained are refused with node and reason") {
  FileBuilder outside({4});
  outside.weight("table", {3, 2}).ints("at", {0, 3}).node("Gather", {"table", "at"}, "g");
  expect_refusal(outside.node("Add", {"x", "g"}, "out"), {"'the_g' (Gather)", "outside", "[3, 2]"});
  FileBuilder floats({4});
  floats.weight("table", {3, 2}).node("Gather", {"table", "x"}, "out");
  expect_refusal(floats, {"'the_out' (Gather)", "float32", "int64"});
  FileBuilder axis = embedding({4}, 3);
  expect_refusal(axis.node("Gather", {"table", "x"}, "out", {{"axis", std::int64_t{2}}}),
                 {"'the_out' (Gather)", "axis 2"});
}

TEST("Places that an exporter counts with Range are constants; a count to the batch size is refused") {
  const auto places = [](std::int64_t of_axis) {
    FileBuilder file = embedding({5}, 4);
    file.weight("places", {5, 3}).node("Shape", {"x"}, "shape");
    for (const auto& [name, value] :
         {std::pair{"axis", of_axis}, {"zero", std::int64_t{0}}, {"one", std::int64_t{1}}})
      file.model.initializers.push_back({name, int64_tensor({value}, {})});
    file.node("Gather", {"shape", "axis"}, "steps").node("Range", {"zero", "steps", "one"}, "at");
    file.node("Gather", {"places", "at"}, "b")
        .node("Gather", {"table", "x"}, "a")
        .node("Add", {"a", "b"}, "out");
    return file;
  };
  expect_gradient(places(1), 2);
  expect_refusal(places(0), {"'the_at' (Range)", "batch size"});
}
