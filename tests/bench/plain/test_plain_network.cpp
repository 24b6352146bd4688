#include <cmath>

#include "bench/plain/plain_network.h"
#include "core/base/random.h"
#include "core/learning_onnx/onnx_trainer.h"
#include "models/zoo/zoo_package.h"
#include "tests/support/test.h"

using namespace aflguard;

TEST("The plain networks are the zoo's: the same loss and the same gradient") {
  struct Case {
    const char* zoo;
    bench::PlainNetwork plain;
  };
  Case cases[] = {{"cnn", bench::PlainNetwork::cnn()}, {"resnet20", bench::PlainNetwork::resnet20()}};
  const auto runtime = OnnxRuntime::load();
  ASSERT_OK(runtime);
  for (Case& c : cases) {
    const auto package = models::build_zoo_package(c.zoo);
    ASSERT_OK(package);
    const auto theta = initial_theta(*package, 3);
    ASSERT_OK(theta);
    auto trainer = make_onnx_trainer(*runtime, *package);
    ASSERT_OK(trainer);
    TEST_ASSERT_EQUAL_UINT(theta->size(), c.plain.dimension());
    Random random(10);
    std::vector<std::int64_t> labels(4);
    std::vector<float> features(labels.size() * c.plain.input_size());
    for (float& value : features) value = static_cast<float>(random.uniform());
    for (auto& label : labels) label = static_cast<std::int64_t>(random.below(10));
    std::vector<float> expected(theta->size());
    std::vector<float> found(theta->size());
    const auto loss = (*trainer)->gradient(*theta, {labels.size(), features, labels, {}}, expected);
    ASSERT_OK(loss);
    const float plain_loss = c.plain.gradient(*theta, features, labels, found);
    TEST_ASSERT_FLOAT_WITHIN(1e-5F * *loss, *loss, plain_loss);
    double apart = 0;
    double length = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      apart += std::pow(double{found[i]} - double{expected[i]}, 2);
      length += std::pow(double{expected[i]}, 2);
    }
    const double relative = std::sqrt(apart / length);
    TEST_ASSERT_TRUE_MESSAGE(relative <= 1e-4, (c.zoo + (": " + std::to_string(relative))).c_str());
  }
}
