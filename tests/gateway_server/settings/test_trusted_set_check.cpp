#include "gateway_server/settings/trusted_set_check.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;

namespace {

Dataset labelled(const std::vector<std::int64_t>& labels, std::size_t classes) {
  Dataset data;
  data.sample_shape = {1};
  data.features = std::vector<float>(labels.size(), 1);
  data.labels = labels;
  data.classes = classes;
  return data;
}

ModelDescription three_classes() {
  ModelDescription model;
  model.output_shape = {3};
  model.class_names = {"ripe", "green", "rotten"};
  return model;
}

/// y = theta with the loss (theta - 1)^2: its gradient is 2 (theta - 1).
class OneNumberTrainer final : public Trainer {
 public:
  [[nodiscard]] const ModelDescription& model() const override { return model_; }
  [[nodiscard]] Result<float> gradient(std::span<const float> theta, const Batch&,
                                       std::span<float> gradient) override {
    gradient[0] = 2 * (theta[0] - 1);
    return (theta[0] - 1) * (theta[0] - 1);
  }
  [[nodiscard]] Status predict(std::span<const float>, std::span<const float>, std::size_t,
                               std::span<float>) override {
    return unsupported("not asked for");
  }

 private:
  ModelDescription model_;
};

std::string problem_with(double learning_rate) {
  OneNumberTrainer trainer;
  Dataset data;
  data.sample_shape = {1};
  data.features = std::vector<float>{1, 1};
  data.values = {1, 1};
  const std::vector<float> start = {0};
  const auto found = learning_rate_problem(trainer, data, start, learning_rate, 10);
  ASSERT_OK(found);
  return *found;
}

}  // namespace

TEST("Trusted samples of every class are in order; a class without any is named") {
  TEST_ASSERT_TRUE(trusted_set_problem(labelled({0, 1, 2}, 3), three_classes()).empty());
  ASSERT_CONTAINS(trusted_set_problem(labelled({0, 0, 1}, 3), three_classes()),
                  "no sample of class 'rotten'");
  ASSERT_CONTAINS(trusted_set_problem(labelled({1, 1}, 3), three_classes()), "'ripe', 'rotten'");
  std::vector<std::int64_t> one_class(2);
  ModelDescription many;
  many.output_shape = {20};
  ASSERT_CONTAINS(trusted_set_problem(labelled(one_class, 20), many), "and 14 more");
}

TEST("One trusted sample measures nothing, neither classes nor values") {
  ASSERT_CONTAINS(trusted_set_problem(labelled({0}, 3), three_classes()), "has one sample");
  Dataset value;
  value.values = {1};
  ASSERT_CONTAINS(trusted_set_problem(value, ModelDescription()), "has one sample");
  value.values = {1, 2};
  TEST_ASSERT_TRUE(trusted_set_problem(value, ModelDescription()).empty());
}

TEST(
    "A learning rate that makes the loss of the trusted samples run away is named, one that lowers it is "
    "not") {
  TEST_ASSERT_TRUE(problem_with(0.01).empty());
  TEST_ASSERT_TRUE(problem_with(0.09).empty());  // swings, and comes nearer
  ASSERT_CONTAINS(problem_with(0.2), "[training] learning_rate 0.2 is too high");
  ASSERT_CONTAINS(problem_with(1e6), "[training] learning_rate 1e+06 is too high");
}
