#include <cmath>

#include "datasets/catalog.h"
#include "datasets/load.h"
#include "datasets/synthetic.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::datasets;

namespace {

const std::vector<float>& features_of(const Dataset& data) {
  return std::get<std::vector<float>>(data.features);
}

/// Mean and standard deviation of what the model leaves unexplained.
std::pair<double, double> residuals(const Dataset& data, const std::vector<float>& model) {
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    double residual = data.values[i];
    for (std::size_t j = 0; j < model.size(); ++j) {
      residual -=
          static_cast<double>(features_of(data)[i * model.size() + j]) * static_cast<double>(model[j]);
    }
    sum += residual;
    squares += residual * residual;
  }
  const double n = static_cast<double>(data.size());
  return {sum / n, std::sqrt(squares / n - (sum / n) * (sum / n))};
}

}  // namespace

TEST("The synthetic data has the paper's counts, and unit features and noise") {
  const SyntheticData data = generate_synthetic(1);
  TEST_ASSERT_EQUAL_size_t(8000, data.split.train.size());
  TEST_ASSERT_EQUAL_size_t(2000, data.split.test.size());
  TEST_ASSERT_EQUAL_size_t(100, data.true_model.size());
  double squares = 0;
  for (const float number : features_of(data.split.train))
    squares += static_cast<double>(number) * static_cast<double>(number);
  TEST_ASSERT_DOUBLE_WITHIN(0.01, 1.0, squares / 800000);
  for (const Dataset* part : {&data.split.train, &data.split.test}) {
    const auto [mean, deviation] = residuals(*part, data.true_model);
    TEST_ASSERT_DOUBLE_WITHIN(0.08, 0.0, mean);
    TEST_ASSERT_DOUBLE_WITHIN(0.05, 1.0, deviation);
  }
}

TEST("The true model's entries have standard deviation five") {
  double squares = 0;
  for (const float number : generate_synthetic(3, {.dimension = 20000, .train = 0, .test = 0}).true_model) {
    squares += static_cast<double>(number) * static_cast<double>(number);
  }
  TEST_ASSERT_DOUBLE_WITHIN(0.15, 5.0, std::sqrt(squares / 20000));
}

TEST("The same seed gives the same data, another seed another model and other samples") {
  const SyntheticSettings small{.dimension = 3, .train = 5, .test = 4};
  const SyntheticData one = generate_synthetic(1, small);
  const SyntheticData same = generate_synthetic(1, small);
  const SyntheticData other = generate_synthetic(2, small);
  TEST_ASSERT_TRUE(one.true_model == same.true_model && one.split.train.values == same.split.train.values);
  TEST_ASSERT_TRUE(features_of(one.split.test) == features_of(same.split.test));
  TEST_ASSERT_TRUE(one.true_model != other.true_model);
  TEST_ASSERT_TRUE(features_of(one.split.train) != features_of(other.split.train));
}

TEST("Fresh samples follow the same model and repeat none of the training samples") {
  const SyntheticData data = generate_synthetic(1, {.dimension = 10, .train = 50, .test = 1});
  Random random(1, 3);
  const Dataset trusted = draw_synthetic(data.true_model, 2000, random);
  ASSERT_OK(trusted.validate());
  TEST_ASSERT_DOUBLE_WITHIN(0.08, 1.0, residuals(trusted, data.true_model).second);
  TEST_ASSERT_TRUE(trusted.values.front() != data.split.train.values.front());
}

TEST("Written synthetic data loads back as it was") {
  const testing::TemporaryFolder folder;
  const SyntheticData data = generate_synthetic(5, {.dimension = 3, .train = 5, .test = 4});
  ASSERT_OK(write_synthetic(data, folder.path()));
  const DatasetInfo info = {"synthetic", "", Layout::kNpy, 5, 4, 0, {3}, 0, ""};
  const auto split = load_folder(info, folder.path());
  ASSERT_OK(split);
  TEST_ASSERT_TRUE(split->train.values == data.split.train.values);
  TEST_ASSERT_TRUE(features_of(split->test) == features_of(data.split.test));
}
