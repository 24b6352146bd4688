#include <cmath>
#include <set>

#include "edge_client/training/gradient_training.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;
using namespace aflguard::testing;

namespace {

/// y = theta * x with the loss (theta x - y)^2: small enough to know the answers.
class OneParameterTrainer final : public Trainer {
 public:
  OneParameterTrainer() {
    description_.input_shape = {1};
    description_.output_shape = {1};
    description_.loss = Loss::kMeanSquaredError;
    description_.parameters = {{"theta", {1}, 0, Initializer::kZero, 0}};
  }
  [[nodiscard]] const ModelDescription& model() const override { return description_; }
  [[nodiscard]] Result<float> gradient(std::span<const float> theta, const Batch& batch,
                                       std::span<float> gradient) override {
    float loss = 0;
    gradient[0] = 0;
    for (std::size_t i = 0; i < batch.size; ++i) {
      const float x = batch.features[i];
      drawn.push_back(x);
      const float error = theta[0] * x - batch.values[i];
      loss += error * error;
      gradient[0] += 2 * error * x;
    }
    const auto size = static_cast<float>(batch.size);
    gradient[0] /= size;
    return loss / size;
  }
  [[nodiscard]] Status predict(std::span<const float>, std::span<const float>, std::size_t,
                               std::span<float>) override {
    return unsupported("not asked for");
  }
  std::vector<float> drawn;

 private:
  ModelDescription description_;
};

Dataset line(std::size_t count) {
  Dataset data;
  data.sample_shape = {1};
  std::vector<float> features;
  for (std::size_t i = 0; i < count; ++i) {
    features.push_back(static_cast<float>(i + 1));
    data.values.push_back(static_cast<float>(3 * (i + 1)));
  }
  data.features = features;
  return data;
}

ModelMessage model(std::uint32_t batch, std::uint32_t steps = 1) {
  ModelMessage message;
  message.batch_size = batch;
  message.local_steps = steps;
  message.learning_rate = 0.01;
  message.vector = {1};
  return message;
}

bool always() {
  return true;
}

}  // namespace

TEST("One step sends the SUM of the gradients over the batch") {
  OneParameterTrainer trainer;
  FixedSamples source(line(3));
  GradientTraining training(trainer, source, 1);
  const auto update = training.train(model(3), always);
  ASSERT_OK(update);
  // theta = 1, y = 3x: errors -2x, gradients -4x^2, and 1 + 4 + 9 = 14.
  TEST_ASSERT_EQUAL_FLOAT(-56, update->vector[0]);
  TEST_ASSERT_EQUAL_UINT64(3, update->samples);
  TEST_ASSERT_EQUAL_FLOAT(56.0F / 3, static_cast<float>(update->loss));
}

TEST("A batch is drawn without replacement, a new one each time, the same for the same seed") {
  OneParameterTrainer first;
  OneParameterTrainer second;
  FixedSamples source(line(100));
  GradientTraining one(first, source, 7);
  GradientTraining two(second, source, 7);
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(one.train(model(10), always));
    ASSERT_OK(two.train(model(10), always));
  }
  TEST_ASSERT_TRUE(first.drawn == second.drawn);
  const std::set<float> in_first(first.drawn.begin(), first.drawn.begin() + 10);
  const std::set<float> in_second(first.drawn.begin() + 10, first.drawn.end());
  TEST_ASSERT_EQUAL_size_t(10, in_first.size());
  TEST_ASSERT_TRUE(in_first != in_second);
}

TEST("An update stays as it is while the next one is trained") {
  OneParameterTrainer trainer;
  FixedSamples source(line(3));
  GradientTraining training(trainer, source, 1);
  const auto first = training.train(model(3), always);
  ASSERT_OK(first);
  ModelMessage moved = model(3);
  moved.vector = {2};
  const auto second = training.train(moved, always);
  ASSERT_OK(second);
  TEST_ASSERT_EQUAL_FLOAT(-56, first->vector[0]);
  TEST_ASSERT_EQUAL_FLOAT(-28, second->vector[0]);
}

TEST("A device with fewer samples than the batch uses them all") {
  OneParameterTrainer trainer;
  FixedSamples source(line(2));
  GradientTraining training(trainer, source, 1);
  const auto update = training.train(model(32), always);
  ASSERT_OK(update);
  TEST_ASSERT_EQUAL_UINT64(2, update->samples);
}

TEST("Several steps send the way that the local model went, divided by the rate") {
  OneParameterTrainer trainer;
  FixedSamples source(line(1));
  GradientTraining training(trainer, source, 1);
  const auto update = training.train(model(1, 2), always);
  ASSERT_OK(update);
  // x = 1, y = 3: theta 1 -> 1 + 0.01 * 4 = 1.04 -> 1.04 + 0.01 * 3.92 = 1.0792.
  TEST_ASSERT_FLOAT_WITHIN(1e-3F, -7.92F, update->vector[0]);
  TEST_ASSERT_EQUAL_UINT64(2, update->samples);
}

TEST("A training that shall stop gives no update") {
  OneParameterTrainer trainer;
  FixedSamples source(line(1));
  GradientTraining training(trainer, source, 1);
  const auto update = training.train(model(1, 100), [] { return false; });
  TEST_ASSERT_TRUE(update.error().kind == ErrorKind::kUnavailable);
  TEST_ASSERT_EQUAL_size_t(1, trainer.drawn.size());
}

TEST("Samples that are held back are never trained on, and batches are as large as they were") {
  OneParameterTrainer trainer;
  FixedSamples source(line(200));
  const HeldBack held_back(0.5);
  GradientTraining training(trainer, source, 5, held_back);
  const Dataset data = line(200);
  for (int i = 0; i < 50; ++i) {
    trainer.drawn.clear();
    const auto update = training.train(model(32), always);
    ASSERT_OK(update);
    TEST_ASSERT_EQUAL_UINT64(32, update->samples);
    TEST_ASSERT_EQUAL_size_t(32, std::set<float>(trainer.drawn.begin(), trainer.drawn.end()).size());
    for (const float x : trainer.drawn) {
      TEST_ASSERT_FALSE(held_back.holds(data, static_cast<std::size_t>(x) - 1));
    }
  }
  // A batch larger than what is left: all of that.
  const std::size_t left = 200 - held_back.newest(data, 200).size();
  const auto large = training.train(model(1000), always);
  ASSERT_OK(large);
  TEST_ASSERT_EQUAL_UINT64(left, large->samples);
}
