#include <cmath>
#include <limits>

#include "core/learning/evaluation.h"
#include "lab/attacks/craft/trigger.h"
#include "lab/runs/metrics.h"
#include "tests/lab/linear_trainer.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::lab;
using aflguard::testing::LinearTrainer;

namespace {

/// Scores are the features themselves, one per class.
class EchoTrainer final : public Trainer {
 public:
  explicit EchoTrainer(std::size_t classes) {
    model_.input_shape = {classes};
    model_.output_shape = {classes};
  }
  [[nodiscard]] const ModelDescription& model() const override { return model_; }
  [[nodiscard]] Result<float> gradient(std::span<const float>, const Batch&, std::span<float>) override {
    return internal_error("not used");
  }
  [[nodiscard]] Status predict(std::span<const float>, std::span<const float> features, std::size_t,
                               std::span<float> outputs) override {
    std::copy(features.begin(), features.end(), outputs.begin());
    return {};
  }

 private:
  ModelDescription model_;
};

Dataset scores(std::vector<float> features, std::vector<std::int64_t> labels) {
  Dataset data;
  data.classes = 3;
  data.sample_shape = {3};
  data.features = std::move(features);
  data.labels = std::move(labels);
  return data;
}

}  // namespace

TEST("Test error counts samples whose highest score is another class; NaN never wins, class 0 stands in") {
  EchoTrainer trainer(3);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Dataset data = scores({1, 2, 3, 5, 1, 1, nan, 1, 0, nan, nan, nan}, {2, 1, 1, 2});
  TEST_ASSERT_EQUAL_DOUBLE(0.5, test_error(trainer, {}, data).value());
}

TEST("Attack success looks only at samples of other classes, with the trigger put in") {
  EchoTrainer trainer(3);
  // The trigger sets every 20th feature, here feature 0, to 0.
  const Dataset data = scores({9, 1, 2, 9, 3, 2, 9, 5, 1, 0, 7, 1}, {0, 0, 2, 1});
  TEST_ASSERT_DOUBLE_WITHIN(1e-12, 2.0 / 3, attack_success(trainer, {}, data, 1).value());
}

TEST("The squared error is over noisy values, and a diverged model gives a huge but finite one") {
  LinearTrainer trainer(2);
  Dataset data;
  data.sample_shape = {2};
  data.features = std::vector<float>{1, 0, 0, 1};
  data.values = {1, 5};
  const std::vector<float> theta = {2, 2};
  TEST_ASSERT_DOUBLE_WITHIN(1e-9, 5, mean_squared_error(trainer, theta, data).value());
  Metrics metrics;
  metrics.mse = 64;
  TEST_ASSERT_EQUAL_DOUBLE(2, *metrics.mse_paper_scale());
  data.features = std::vector<float>{3e38F, 3e38F, 1, 1};
  const double huge = mean_squared_error(trainer, theta, data).value();
  TEST_ASSERT_TRUE(std::isfinite(huge) && huge > 1e70);
}

TEST("The estimation error is the distance to the true model") {
  const std::vector<float> theta = {3, 0};
  const std::vector<float> truth = {0, 4};
  TEST_ASSERT_EQUAL_DOUBLE(5, model_estimation_error(theta, truth));
}

TEST("Triggers sit where the attack's description says") {
  std::vector<float> digit(28 * 28);
  put_trigger({1, 28, 28}, digit);
  float sum = 0;
  for (const float pixel : digit) sum += pixel;
  TEST_ASSERT_EQUAL_FLOAT(4, sum);
  for (const auto& [row, column] :
       {std::pair{26, 26}, std::pair{24, 26}, std::pair{26, 24}, std::pair{25, 25}}) {
    TEST_ASSERT_EQUAL_FLOAT(1, digit[static_cast<std::size_t>(row * 28 + column)]);
  }
  std::vector<float> features(561, 3);
  put_trigger({561}, features);
  TEST_ASSERT_EQUAL_FLOAT(0, features[0]);
  TEST_ASSERT_EQUAL_FLOAT(0, features[560]);
  TEST_ASSERT_EQUAL_FLOAT(3, features[19]);
  std::vector<float> picture(3 * 32 * 32);
  put_trigger({3, 32, 32}, picture);
  sum = 0;
  for (const float pixel : picture) sum += pixel;
  TEST_ASSERT_EQUAL_FLOAT(3 * 24, sum);
}
