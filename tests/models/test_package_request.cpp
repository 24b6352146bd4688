#include "core/learning/data/npy.h"
#include "core/system/atomic_file.h"
#include "models/inference_files.h"
#include "models/onnx_file/onnx_file.h"
#include "models/package_request.h"
#include "models/predict.h"
#include "models/zoo/zoo_package.h"
#include "tests/models/gradient_cases.h"

using namespace aflguard;
using namespace aflguard::models;
using namespace aflguard::models::testing;
using aflguard::testing::message_of;

namespace {

/// An ONNX file as a user brings it: y = x W + b with three outputs.
std::filesystem::path onnx_file(const aflguard::testing::TemporaryFolder& folder) {
  const ModelPackage package =
      build_zoo_package("logistic-regression", {.features = 4, .classes = 3}).value();
  const auto theta = initial_theta(package, 1).value();
  ASSERT_OK(write_inference_files(package, theta, {.onnx = folder / "sensors.onnx"}));
  return folder / "sensors.onnx";
}

}  // namespace

TEST("A model of the zoo is packaged under its name and loss, or under another name") {
  const auto built = make_package({.zoo = "cnn"});
  ASSERT_OK(built);
  TEST_ASSERT_EQUAL_STRING("cnn", built->package.description.name.c_str());
  TEST_ASSERT_TRUE(built->package.description.loss == Loss::kCrossEntropy);
  const auto renamed = make_package({.zoo = "linear-regression", .name = "oven"});
  ASSERT_OK(renamed);
  TEST_ASSERT_EQUAL_STRING("oven", renamed->package.description.name.c_str());
  TEST_ASSERT_TRUE(renamed->package.description.loss == Loss::kMeanSquaredError);
}

TEST("An ONNX file is packaged under the name of the file") {
  const aflguard::testing::TemporaryFolder folder;
  const auto built = make_package({.onnx = onnx_file(folder), .loss = Loss::kCrossEntropy});
  ASSERT_OK(built);
  TEST_ASSERT_EQUAL_STRING("sensors", built->package.description.name.c_str());
  TEST_ASSERT_EQUAL_size_t(15, built->package.description.dimension());
}

TEST("A request is refused when its parts do not go together") {
  const aflguard::testing::TemporaryFolder folder;
  const std::filesystem::path onnx = onnx_file(folder);
  ASSERT_CONTAINS(message_of(make_package({.zoo = "cnn", .loss = Loss::kMeanSquaredError})),
                  "model 'cnn' is trained with --loss cross-entropy, not mse");
  ASSERT_CONTAINS(message_of(make_package({.zoo = "nothing"})), "there is no model 'nothing' in the zoo");
  ASSERT_CONTAINS(message_of(make_package({.onnx = onnx})), "needs --loss");
  ASSERT_CONTAINS(
      message_of(make_package({.zoo_options = {.classes = 3}, .onnx = onnx, .loss = Loss::kCrossEntropy})),
      "belong to --zoo");
  const auto output = make_package({.onnx = onnx, .import = {"gone", {}}, .loss = Loss::kCrossEntropy});
  ASSERT_CONTAINS(message_of(output), "sensors.onnx");
}

TEST("Files for inference hold the parameters, flat as well where that is wanted") {
  const aflguard::testing::TemporaryFolder folder;
  const ModelPackage package = build_zoo_package("linear-regression", {.features = 3}).value();
  const std::vector<float> theta = {1, 2, 3};
  ASSERT_OK(write_inference_files(package, theta, {folder / "oven.onnx", folder / "oven.npy"}));
  ASSERT_OK(read_onnx(folder / "oven.onnx"));
  const auto flat = read_npy(folder / "oven.npy");
  ASSERT_OK(flat);
  TEST_ASSERT_TRUE(flat->as_float32("theta").value() == theta);
  TEST_ASSERT_EQUAL_STRING(package.description.hash.c_str(), flat->layout_hash.c_str());
}

TEST("Predictions are the same in runs of any size when the model normalises no batch") {
  const ModelPackage package = build_zoo_package("linear-regression", {.features = 2}).value();
  const auto trainer = trainer_of(package);
  const std::vector<float> theta = {1, 10};
  const Samples samples = {.count = 3, .features = {1, 2, 3, 4, 5, 6}};
  const std::vector<float> expected = {21, 43, 65};
  for (const std::size_t at_once : {0, 1, 2, 3, 4}) {
    const auto outputs = predict(*trainer, theta, samples, at_once);
    ASSERT_OK(outputs);
    TEST_ASSERT_TRUE(*outputs == expected);
  }
}
