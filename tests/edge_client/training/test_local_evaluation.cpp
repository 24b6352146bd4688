#include "core/learning_onnx/onnx_trainer.h"
#include "edge_client/training/local_evaluation.h"
#include "models/zoo/zoo_package.h"
#include "tests/edge_client/kept_log.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;
using namespace aflguard::testing;
using namespace std::chrono_literals;

namespace {

/// Takes half a second for each look at it.
class SlowClock final : public Clock {
 public:
  [[nodiscard]] std::chrono::system_clock::time_point wall() const override { return {}; }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const override { return now += 500ms; }
  mutable std::chrono::steady_clock::time_point now{std::chrono::hours(1)};
};

/// y = 2 x, and values that are 1 more.
Dataset shifted_line(std::size_t count) {
  Dataset data;
  data.name = "line";
  data.sample_shape = {1};
  std::vector<float> features;
  for (std::size_t i = 0; i < count; ++i) {
    features.push_back(static_cast<float>(i));
    data.values.push_back(static_cast<float>(2 * i + 1));
  }
  data.features = features;
  return data;
}

struct Rig {
  explicit Rig(std::size_t rows, double share = 0.4)
      : source(shifted_line(rows)),
        trainer(make_onnx_trainer(OnnxRuntime::load().value(),
                                  models::build_zoo_package("linear-regression", {.features = 1}).value())
                    .value()),
        evaluation(HeldBack(share), *trainer, source, {}, clock, log) {}

  static ModelMessage model(std::uint64_t version, float slope) {
    ModelMessage message;
    message.version = version;
    message.vector = {slope};
    return message;
  }

  SlowClock clock;
  KeptLog log;
  FixedSamples source;
  std::unique_ptr<Trainer> trainer;
  LocalEvaluation evaluation;
};

}  // namespace

TEST("Each version is measured once on what is held back, after a pause that fits its price") {
  Rig rig(200);
  TEST_ASSERT_EQUAL_size_t(1, rig.trainer->model().dimension());
  (void)rig.evaluation.step(nullptr);
  TEST_ASSERT_FALSE(rig.evaluation.newest().has_value());
  const ModelMessage first = Rig::model(7, 2);
  const auto next = rig.evaluation.step(&first);
  TEST_ASSERT_TRUE(rig.evaluation.newest().has_value());
  TEST_ASSERT_EQUAL_DOUBLE(1, rig.evaluation.newest()->error);
  TEST_ASSERT_EQUAL_UINT64(7, rig.evaluation.newest()->version);
  TEST_ASSERT_EQUAL_UINT64(HeldBack(0.4).newest(shifted_line(200), 500).size(),
                           rig.evaluation.newest()->samples);
  // It took half a second: a pause of ten.
  TEST_ASSERT_TRUE(next == rig.clock.now + 10s);
  const ModelMessage second = Rig::model(8, 3);
  TEST_ASSERT_TRUE(rig.evaluation.step(&second) == next);
  TEST_ASSERT_EQUAL_UINT64(7, rig.evaluation.newest()->version);
  rig.clock.now = next;
  (void)rig.evaluation.step(&second);
  TEST_ASSERT_EQUAL_UINT64(8, rig.evaluation.newest()->version);
  TEST_ASSERT_TRUE(rig.evaluation.newest()->error > 1);
}

TEST("Without held-back samples nothing is measured; a model that does not fit is reported once") {
  Rig none(200, 0);
  const ModelMessage model = Rig::model(1, 2);
  (void)none.evaluation.step(&model);
  TEST_ASSERT_FALSE(none.evaluation.newest().has_value());
  Rig rig(200);
  ModelMessage wrong = Rig::model(1, 2);
  wrong.vector = {1, 2};
  const auto next = rig.evaluation.step(&wrong);
  rig.clock.now = next;
  (void)rig.evaluation.step(&wrong);
  TEST_ASSERT_FALSE(rig.evaluation.newest().has_value());
  const auto said = rig.log.text.find("not measured");
  TEST_ASSERT_TRUE(said != std::string::npos);
  TEST_ASSERT_TRUE(rig.log.text.find("not measured", said + 1) == std::string::npos);
}
