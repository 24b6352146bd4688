#include <cmath>

#include "models/zoo/zoo.h"
#include "tests/models/gradient_cases.h"

using namespace aflguard;
using namespace aflguard::models;
using namespace aflguard::models::testing;

namespace {

ModelPackage zoo_package(const char* name, const ZooOptions& options = {}) {
  const auto model = build_zoo_model(name, options);
  ASSERT_OK(model);
  Loss loss = Loss::kCrossEntropy;
  for (const ZooEntry& entry : zoo()) {
    if (entry.name == std::string_view(name)) loss = entry.loss;
  }
  auto built = build_package(*model, {loss, OpsFlavor::kStandard, NormStatistics::kBatch});
  ASSERT_OK(built);
  return built->package;
}

double worst_error(const ModelPackage& package) {
  const auto trainer = trainer_of(package);
  const auto result = check_gradient(*trainer, *initial_theta(package, 3), 4, 3);
  ASSERT_OK(result);
  return result->worst_error;
}

}  // namespace

TEST("The paper's network has exactly its 139,960 parameters and a correct gradient") {
  const ModelPackage package = zoo_package("cnn");
  TEST_ASSERT_EQUAL_size_t(139960, package.description.dimension());
  TEST_ASSERT_EQUAL_size_t(10, package.description.classes());
  TEST_ASSERT_TRUE(worst_error(package) < 0.01);
}

TEST("Linear regression has one weight per feature and no intercept") {
  const ModelPackage package = zoo_package("linear-regression", {.features = 7});
  TEST_ASSERT_EQUAL_size_t(7, package.description.dimension());
  TEST_ASSERT_TRUE(package.description.loss == Loss::kMeanSquaredError);
  TEST_ASSERT_TRUE(worst_error(package) < 1e-4);
}

TEST("Logistic regression takes features and classes") {
  const ModelPackage package = zoo_package("logistic-regression", {.features = 9, .classes = 4});
  TEST_ASSERT_EQUAL_size_t(9 * 4 + 4, package.description.dimension());
  TEST_ASSERT_TRUE(worst_error(package) < 1e-3);
}

TEST("ResNet-20 has the original network's 269,722 parameters in both variants") {
  for (const char* name : {"resnet20", "resnet20-gn"}) {
    TEST_ASSERT_EQUAL_size_t(269722, zoo_package(name).description.dimension());
  }
}

TEST("ResNet-20's gradients are correct on small images in both variants") {
  const ZooOptions small{.classes = 8, .input_shape = {1, 8, 8}};
  for (const char* name : {"resnet20", "resnet20-gn"})
    TEST_ASSERT_TRUE(worst_error(zoo_package(name, small)) < 0.02);
}

TEST("ResNet-20 takes the histology images' shape") {
  const ModelPackage package = zoo_package("resnet20", {.classes = 8, .input_shape = {1, 64, 64}});
  TEST_ASSERT_TRUE((package.description.input_shape == std::vector<std::size_t>{1, 64, 64}));
  TEST_ASSERT_EQUAL_size_t(8, package.description.classes());
}

TEST("First values follow the paper: linear models zero, weights uniform, biases zero, norm scales one") {
  for (const Parameter& p : zoo_package("logistic-regression").description.parameters) {
    TEST_ASSERT_TRUE(p.initializer == Initializer::kZero);
  }
  for (const Parameter& p : zoo_package("resnet20").description.parameters) {
    const bool norm = p.name.find("norm") != std::string::npos;
    const bool bias = p.name.ends_with(".bias");
    const Initializer expected =
        bias ? Initializer::kZero : (norm ? Initializer::kOne : Initializer::kUniform);
    TEST_ASSERT_TRUE_MESSAGE(p.initializer == expected, p.name.c_str());
  }
  const Parameter conv1 = zoo_package("cnn").description.parameters.front();
  TEST_ASSERT_EQUAL_STRING("conv1.weight", conv1.name.c_str());
  TEST_ASSERT_DOUBLE_WITHIN(1e-12, std::sqrt(2.24 / ((9 + 270) / 2.0)), conv1.bound);
}

TEST("An option that the model does not have is refused") {
  ASSERT_CONTAINS(message_of(build_zoo_model("cnn", {.features = 3})), "--input");
  ASSERT_CONTAINS(message_of(build_zoo_model("linear-regression", {.classes = 3})), "--classes");
  ASSERT_CONTAINS(message_of(build_zoo_model("logistic-regression", {.input_shape = {1, 2, 2}})),
                  "--features");
  ASSERT_CONTAINS(message_of(build_zoo_model("logistic-regression", {.classes = 1})), "2 to");
}

TEST("An image too small for the network is refused, naming model and node") {
  ASSERT_CONTAINS(message_of(build_zoo_model("cnn", {.input_shape = {1, 4, 4}})), "'cnn'");
  ASSERT_CONTAINS(message_of(build_zoo_model("cnn", {.input_shape = {1, 4, 4}})), "does not fit");
}

TEST("An unknown model is refused with the names that exist") {
  ASSERT_CONTAINS(message_of(build_zoo_model("vgg", {})), "resnet20-gn");
}
