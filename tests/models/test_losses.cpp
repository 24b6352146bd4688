#include <cmath>

#include "tests/models/gradient_cases.h"

using namespace aflguard;
using namespace aflguard::models;
using namespace aflguard::models::testing;

namespace {

FileBuilder scores() {
  FileBuilder file({2});
  file.model.initializers.push_back({"w", float_tensor({1, 0, 0, 0, 1, 0}, {2, 3})});
  return file;
}

float loss_of(const FileBuilder& file, Loss loss, const Batch& batch,
              std::vector<float>* gradient = nullptr) {
  const auto built = build(file.model, loss);
  ASSERT_OK(built);
  std::vector<float> out(built->package.description.dimension());
  const auto result = trainer_of(built->package)->gradient(built->package.initial, batch, out);
  ASSERT_OK(result);
  if (gradient) *gradient = out;
  return *result;
}

}  // namespace

TEST("Cross-entropy is the mean of -log softmax, with the closed-form gradient") {
  FileBuilder file = scores();
  file.node("MatMul", {"x", "w"}, "out");
  const std::vector<float> x{1, 2, 0.5F, -1};
  const std::vector<std::int64_t> labels{1, 2};
  std::vector<float> gradient;
  const float loss = loss_of(file, Loss::kCrossEntropy, {2, x, labels, {}}, &gradient);
  double expected = 0;
  double expected_gradient[6] = {};
  for (int i = 0; i < 2; ++i) {
    const double row[] = {x[2 * i], x[2 * i + 1], 0};
    const double sum = std::exp(row[0]) + std::exp(row[1]) + std::exp(row[2]);
    expected += (std::log(sum) - row[labels[i]]) / 2;
    for (int j = 0; j < 3; ++j) {
      const double delta = (std::exp(row[j]) / sum - (j == labels[i] ? 1 : 0)) / 2;
      for (int k = 0; k < 2; ++k) expected_gradient[3 * k + j] += x[2 * i + k] * delta;
    }
  }
  TEST_ASSERT_FLOAT_WITHIN(1e-6F, static_cast<float>(expected), loss);
  for (int i = 0; i < 6; ++i)
    TEST_ASSERT_FLOAT_WITHIN(1e-6F, static_cast<float>(expected_gradient[i]), gradient[i]);
}

TEST("Cross-entropy stays finite for scores that overflow an exponential") {
  FileBuilder file = scores();
  file.node("MatMul", {"x", "w"}, "out");
  const std::vector<float> x{1000, -1000};
  const std::vector<std::int64_t> labels{1};
  TEST_ASSERT_FLOAT_WITHIN(0.1F, 2000.0F, loss_of(file, Loss::kCrossEntropy, {1, x, labels, {}}));
}

TEST("A model that ends in Softmax or LogSoftmax is trained on its own probabilities") {
  const std::vector<float> x{1, 2, 0.5F, -1};
  const std::vector<std::int64_t> labels{1, 2};
  FileBuilder plain = scores();
  plain.node("MatMul", {"x", "w"}, "out");
  const float expected = loss_of(plain, Loss::kCrossEntropy, {2, x, labels, {}});
  for (const char* op : {"Softmax", "LogSoftmax"}) {
    FileBuilder file = scores();
    file.node("MatMul", {"x", "w"}, "h").node(op, {"h"}, "out");
    TEST_ASSERT_FLOAT_WITHIN(1e-6F, expected, loss_of(file, Loss::kCrossEntropy, {2, x, labels, {}}));
    expect_gradient(file, 1, Loss::kCrossEntropy);
  }
}

TEST("Mean squared error is the mean over all elements") {
  FileBuilder file = scores();
  file.node("MatMul", {"x", "w"}, "out");
  const std::vector<float> x{1, 2, 3, 4};
  const std::vector<float> y{0, 0, 0, 1, 1, 1};
  const float expected = (1.0F + 4 + 0 + 4 + 9 + 1) / 6;
  TEST_ASSERT_FLOAT_WITHIN(1e-6F, expected, loss_of(file, Loss::kMeanSquaredError, {2, x, {}, y}));
  expect_gradient(file, 1);
}

TEST("Mean squared error takes outputs of any rank, also one number per sample") {
  FileBuilder image({2, 4, 4});
  expect_gradient(image.weight("w", {3, 2, 3, 3}).node("Conv", {"x", "w"}, "out"), 1);
  FileBuilder number({4});
  expect_gradient(number.weight("w", {4}).node("MatMul", {"x", "w"}, "out"), 1);
}

TEST("Cross-entropy refuses an output that is not a row of class scores") {
  FileBuilder image({2, 4, 4});
  image.weight("w", {3, 2, 3, 3}).node("Conv", {"x", "w"}, "out");
  expect_refusal(image, {"[batch, 3, 2, 2]", "[batch, classes]"}, Loss::kCrossEntropy);
  FileBuilder single({4});
  single.weight("w", {4, 1}).node("MatMul", {"x", "w"}, "out");
  expect_refusal(single, {"[batch, 1]", "at least 2"}, Loss::kCrossEntropy);
}
