#include "models/onnx_file/separate_tensors.h"
#include "tests/models/gradient_cases.h"

using namespace aflguard;
using namespace aflguard::models;
using namespace aflguard::models::testing;

namespace {

/// Two batch normalisations as an exporter for evaluation writes them when they are fresh: equal tensors are
/// one.
FileBuilder merged() {
  FileBuilder file({2, 3});
  file.weight("bn1.weight", {2}, 1).weight("bn1.bias", {2}, 1).weight("tied", {3, 3});
  file.node("Identity", {"bn1.weight"}, "bn2.weight").node("Identity", {"tied"}, "tied2");
  file.node("BatchNormalization", {"x", "bn1.weight", "bn1.bias", "bn1.bias", "bn1.weight"}, "h");
  file.node("MatMul", {"h", "tied"}, "m").node("MatMul", {"m", "tied2"}, "n");
  file.node("BatchNormalization", {"n", "bn2.weight", "bn1.bias", "bn1.bias", "bn1.weight"}, "o");
  file.node("Flatten", {"o"}, "out");
  return file;
}

}  // namespace

TEST("Vectors that an exporter merged because they were equal are trained separately, under their names") {
  FileBuilder file = merged();
  const auto made = separate_equal_tensors(file.model);
  TEST_ASSERT_TRUE((made == std::vector<std::string>{"bn2.weight", "the_h.mean", "the_h.variance",
                                                     "the_o.bias", "the_o.mean", "the_o.variance"}));
  for (const NormStatistics statistics : {NormStatistics::kStored, NormStatistics::kBatch}) {
    const auto built = build(file.model, Loss::kMeanSquaredError, {}, statistics);
    ASSERT_OK(built);
    std::vector<std::string> names;
    for (const Parameter& parameter : built->package.description.parameters) names.push_back(parameter.name);
    TEST_ASSERT_TRUE(
        (names == std::vector<std::string>{"bn1.weight", "bn1.bias", "tied", "bn2.weight", "the_o.bias"}));
  }
}

TEST("Stored statistics stay what they are while scales and biases are trained") {
  FileBuilder file = merged();
  (void)separate_equal_tensors(file.model);
  const auto built = build(file.model, Loss::kMeanSquaredError, {}, NormStatistics::kStored);
  ASSERT_OK(built);
  const ModelPackage& package = built->package;
  TEST_ASSERT_EQUAL_size_t(0, package.description.statistics);
  // Of the first normalisation only the scale is doubled and the bias is 0: what it normalises with is as
  // before, and so x at the stored mean gives 0 after it, and the second one its bias less its mean, scaled.
  auto theta = initial_theta(package, 1).value();
  const auto trainer = trainer_of(package);
  std::vector<float> x(6);
  for (std::size_t i = 0; i < 6; ++i) x[i] = theta[2 + i / 3];  // bn1.bias, which was the stored mean
  std::vector<float> before(6);
  std::vector<float> after(6);
  theta[2] = theta[3] = 0;
  ASSERT_OK(trainer->predict(theta, x, 1, before));
  theta[0] *= 2;
  theta[1] *= 2;
  ASSERT_OK(trainer->predict(theta, x, 1, after));
  for (std::size_t i = 0; i < 6; ++i) TEST_ASSERT_FLOAT_WITHIN(1e-5F, before[i], after[i]);
}

TEST("A file without merged tensors stays as it is") {
  FileBuilder file({2, 3});
  file.weight("s", {2}).weight("b", {2}).weight("m", {2}).weight("v", {2}, 2);
  file.node("BatchNormalization", {"x", "s", "b", "m", "v"}, "out");
  TEST_ASSERT_TRUE(separate_equal_tensors(file.model).empty());
  TEST_ASSERT_EQUAL_size_t(4, file.model.initializers.size());
}
