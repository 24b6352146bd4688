#include "core/learning/inference_file.h"
#include "core/learning_onnx/onnx_predictor.h"
#include "core/learning_onnx/onnx_trainer.h"
#include "core/system/atomic_file.h"
#include "edge_client/exporting/model_export.h"
#include "models/zoo/zoo_package.h"
#include "tests/edge_client/kept_log.h"
#include "tests/support/small_disk.h"
#include "tests/support/test.h"
#include "tests/support/wait_until.h"

using namespace aflguard;
using namespace aflguard::edge;
using namespace aflguard::testing;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

ModelPackage small_package() {
  return models::build_zoo_package("logistic-regression", {.features = 2, .classes = 3}).value();
}

/// A resnet whose package has calibration samples.
ModelPackage normalising_package() {
  auto package = models::build_zoo_package("resnet20", {.classes = 3, .input_shape = {1, 8, 8}}).value();
  for (int i = 0; i < 32 * 64; ++i)
    package.calibration.push_back(static_cast<float>(i * 37 % 101) / 50.0F - 1);
  return package;
}

/// Stands until it is moved.
class MovedClock final : public Clock {
 public:
  [[nodiscard]] std::chrono::system_clock::time_point wall() const override { return {}; }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const override { return now; }
  std::chrono::steady_clock::time_point now{std::chrono::hours(1)};
};

struct Rig {
  explicit Rig(ModelPackage given = small_package(), std::vector<std::string> on_model = {})
      : package(std::move(given)),
        trainer(make_onnx_trainer(OnnxRuntime::load().value(), package).value()),
        model_export({.file = folder / "current.onnx", .interval = 10s, .on_model = std::move(on_model)},
                     "orchard", package, *trainer, clock, log) {}

  ModelMessage model(std::uint64_t version) const {
    ModelMessage message;
    message.version = version;
    message.vector = initial_theta(package, version).value();
    return message;
  }
  [[nodiscard]] std::string exported_version() const {
    const auto file = read_file(folder / "current.onnx");
    if (!file.ok()) return "none";
    const auto notes = read_file_notes(*file);
    ASSERT_OK(notes);
    for (const auto& [key, value] : *notes) {
      if (key == kNoteVersion) return value;
    }
    return "unknown";
  }

  TemporaryFolder folder;
  MovedClock clock;
  KeptLog log;
  ModelPackage package;
  std::unique_ptr<Trainer> trainer;
  ModelExport model_export;
};

}  // namespace

TEST("Every model is exported once, and no sooner than the interval after the one before") {
  Rig rig;
  (void)rig.model_export.step(nullptr);
  TEST_ASSERT_EQUAL_STRING("none", rig.exported_version().c_str());
  const ModelMessage first = rig.model(1);
  (void)rig.model_export.step(&first);
  TEST_ASSERT_EQUAL_STRING("1", rig.exported_version().c_str());
  fs::remove(rig.folder / "current.onnx");
  (void)rig.model_export.step(&first);
  TEST_ASSERT_EQUAL_STRING("none", rig.exported_version().c_str());
  const ModelMessage second = rig.model(2);
  const auto due = rig.model_export.step(&second);
  TEST_ASSERT_EQUAL_STRING("none", rig.exported_version().c_str());
  TEST_ASSERT_TRUE(due == rig.clock.steady() + 10s);
  rig.clock.now += 10s;
  (void)rig.model_export.step(&second);
  TEST_ASSERT_EQUAL_STRING("2", rig.exported_version().c_str());
}

TEST("The best model stays in the file until one errs no more, over restarts too") {
  Rig rig;
  const ExportSettings settings{.file = rig.folder / "current.onnx", .best = true, .interval = 0s};
  const auto offer = [&](ModelExport& model_export, std::uint64_t version, std::optional<double> error) {
    const ModelMessage model = rig.model(version);
    rig.clock.now += 1s;
    (void)model_export.step(&model, error);
    return rig.exported_version();
  };
  {
    ModelExport first(settings, "orchard", rig.package, *rig.trainer, rig.clock, rig.log);
    TEST_ASSERT_EQUAL_STRING("none", offer(first, 1, {}).c_str());  // not measured yet
    TEST_ASSERT_EQUAL_STRING("2", offer(first, 2, 0.5).c_str());
    TEST_ASSERT_EQUAL_STRING("3", offer(first, 3, 0.2).c_str());
    TEST_ASSERT_EQUAL_STRING("3", offer(first, 4, 0.3).c_str());
    TEST_ASSERT_EQUAL_STRING("5", offer(first, 5, 0.2).c_str());
  }
  ModelExport again(settings, "orchard", rig.package, *rig.trainer, rig.clock, rig.log);
  TEST_ASSERT_EQUAL_STRING("5", offer(again, 6, 0.25).c_str());
  TEST_ASSERT_EQUAL_STRING("7", offer(again, 7, 0.1).c_str());
}

TEST("With batch normalisation the file predicts a sample alone as in a batch") {
  Rig rig(normalising_package());
  ASSERT_OK(check_exportable(rig.package));
  const ModelMessage model = rig.model(7);
  (void)rig.model_export.step(&model);
  TEST_ASSERT_EQUAL_STRING("", rig.model_export.problem().c_str());
  const auto file = read_file(rig.folder / "current.onnx");
  ASSERT_OK(file);
  auto predictor = OnnxPredictor::create(OnnxRuntime::load().value(), *file, rig.package.description);
  ASSERT_OK(predictor);
  const std::span<const float> x = rig.package.calibration;
  std::vector<float> together(32 * 3);
  std::vector<float> alone(32 * 3);
  ASSERT_OK(predictor->predict(x, 32, together));
  for (std::size_t i = 0; i < 32; ++i) {
    ASSERT_OK(predictor->predict(x.subspan(i * 64, 64), 1, std::span(alone).subspan(i * 3, 3)));
  }
  for (std::size_t i = 0; i < alone.size(); ++i) TEST_ASSERT_FLOAT_WITHIN(1e-4F, together[i], alone[i]);
  ModelPackage bare = rig.package;
  bare.calibration.clear();
  ASSERT_CONTAINS(message_of(check_exportable(bare)), "aflguard model build --calibration FILE");
}

TEST("A full disk leaves the former model whole, says so, and the next try succeeds") {
  TemporaryFolder folder;
  SmallDisk disk(folder / "disk", 4);
  Rig rig;
  ModelExport model_export({.file = folder / "disk/current.onnx", .interval = 1s}, "orchard", rig.package,
                           *rig.trainer, rig.clock, rig.log);
  const ModelMessage first = rig.model(1);
  (void)model_export.step(&first);
  const auto before = read_file(folder / "disk/current.onnx");
  ASSERT_OK(before);
  disk.fill();
  rig.clock.now += 1s;
  const ModelMessage second = rig.model(2);
  (void)model_export.step(&second);
  ASSERT_CONTAINS(model_export.problem(), "the model is not exported: ");
  ASSERT_CONTAINS(model_export.problem(), "current.onnx");
  TEST_ASSERT_TRUE(read_file(folder / "disk/current.onnx").value() == *before);
  disk.make_room();
  rig.clock.now += 30s;
  (void)model_export.step(&second);
  TEST_ASSERT_EQUAL_STRING("", model_export.problem().c_str());
  TEST_ASSERT_FALSE(read_file(folder / "disk/current.onnx").value() == *before);
}

TEST("The owner's program runs after each export and finds file and version") {
  TemporaryFolder out;
  Rig rig(small_package(),
          {"sh", "-c",
           "echo \"$AFLGUARD_MODEL_VERSION $AFLGUARD_MODEL_FILE\" >" + (out / "said").string() +
               ".new && mv " + (out / "said").string() + ".new " + (out / "said").string()});
  const ModelMessage model = rig.model(5);
  (void)rig.model_export.step(&model);
  wait_until("the owner's program", [&] { return fs::exists(out / "said"); });
  TEST_ASSERT_EQUAL_STRING(("5 " + (rig.folder / "current.onnx").string() + "\n").c_str(),
                           read_text_file(out / "said").value().c_str());
}

TEST("A program that fails or does not exist is reported, and models go on") {
  Rig rig(small_package(), {"sh", "-c", "exit 3"});
  const ModelMessage first = rig.model(1);
  const ModelMessage second = rig.model(2);
  (void)rig.model_export.step(&first);
  rig.clock.now += 10s;
  wait_until("the next model", [&] {
    (void)rig.model_export.step(&second);
    return rig.exported_version() == "2";
  });
  ASSERT_CONTAINS(rig.log.text, "on_model: 'sh' ended with exit code 3");
  Rig none(small_package(), {"/no/such/program"});
  (void)none.model_export.step(&first);
  ASSERT_CONTAINS(none.log.text, "on_model: ");
  TEST_ASSERT_EQUAL_STRING("1", none.exported_version().c_str());
}
