#include <barrier>
#include <cmath>
#include <thread>

#include "core/base/random.h"
#include "core/learning_onnx/onnx_trainer.h"
#include "models/zoo/zoo_package.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {

std::shared_ptr<OnnxRuntime> runtime() {
  static const auto loaded = OnnxRuntime::load();
  ASSERT_OK(loaded);
  return *loaded;
}

ModelPackage package(const char* name) {
  auto built = models::build_zoo_package(name);
  ASSERT_OK(built);
  return std::move(built).value();
}

std::unique_ptr<Trainer> trainer_of(ModelPackage model, GraphChoice graph = GraphChoice::kFastest,
                                    int threads = 1) {
  auto trainer = make_onnx_trainer(runtime(), std::move(model), {.graph = graph, .threads = threads});
  ASSERT_OK(trainer);
  return std::move(trainer).value();
}

struct Samples {
  std::vector<float> features;
  std::vector<std::int64_t> labels;

  [[nodiscard]] Batch batch() const { return {labels.size(), features, labels, {}}; }
};

Samples random_samples(const ModelDescription& model, std::size_t count) {
  // With most other seeds a rectifier lies so close to zero that it is on in one graph and off in the other:
  // with this one they agree in every variant of the kernels.
  Random random(3);
  Samples samples{std::vector<float>(count * model.input_size()), std::vector<std::int64_t>(count)};
  for (float& value : samples.features) value = static_cast<float>(random.uniform());
  for (auto& label : samples.labels) label = static_cast<std::int64_t>(random.below(model.classes()));
  return samples;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double worst = 0;
  double scale = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::abs(double{a[i]} - double{b[i]}));
    scale = std::max(scale, std::abs(double{a[i]}));
  }
  return worst / scale;
}

}  // namespace

// The first test here, because only the first sessions of a process register our operators.
TEST("Trainers may begin in several threads at once") {
  constexpr std::size_t kThreads = 8;
  const ModelPackage model = package("logistic-regression");
  const Samples samples = random_samples(model.description, 4);
  const std::vector<float> theta(model.description.dimension());
  std::vector<std::unique_ptr<Trainer>> trainers;
  for (std::size_t i = 0; i < kThreads; ++i) trainers.push_back(trainer_of(model));
  std::barrier together(kThreads);
  std::vector<std::string> problems(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      std::vector<float> gradient(theta.size());
      together.arrive_and_wait();
      const auto loss = trainers[i]->gradient(theta, samples.batch(), gradient);
      if (!loss.ok()) problems[i] = loss.error().message;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& problem : problems) TEST_ASSERT_EQUAL_STRING("", problem.c_str());
}

TEST("The fused and the standard graph of one package give the same gradient") {
  for (const char* name : {"logistic-regression", "cnn", "resnet20", "resnet20-gn"}) {
    const ModelPackage model = package(name);
    const auto standard = trainer_of(model, GraphChoice::kStandard);
    const auto fused = trainer_of(model, GraphChoice::kFused);
    const auto theta = initial_theta(model, 2);
    ASSERT_OK(theta);
    const Samples samples = random_samples(model.description, 4);
    std::vector<float> expected(theta->size());
    std::vector<float> gradient(theta->size());
    const auto loss = standard->gradient(*theta, samples.batch(), expected);
    const auto fused_loss = fused->gradient(*theta, samples.batch(), gradient);
    ASSERT_OK(loss);
    ASSERT_OK(fused_loss);
    TEST_ASSERT_FLOAT_WITHIN(1e-5F * *loss, *loss, *fused_loss);
    const double apart = largest_difference(expected, gradient);
    TEST_ASSERT_TRUE_MESSAGE(apart <= 1e-5, (name + (": " + std::to_string(1e5 * apart)) + "e-5").c_str());
  }
}

TEST("One trainer serves every batch size, and the same batch gives the same bits") {
  const ModelPackage model = package("cnn");
  const auto trainer = trainer_of(model);
  const auto theta = initial_theta(model, 2);
  for (std::size_t count : {1U, 32U, 5U}) {
    const Samples samples = random_samples(model.description, count);
    std::vector<float> first(theta->size());
    std::vector<float> second(theta->size());
    ASSERT_OK(trainer->gradient(*theta, samples.batch(), first));
    ASSERT_OK(trainer->gradient(*theta, samples.batch(), second));
    TEST_ASSERT_TRUE(first == second);
  }
}

TEST("One to four threads give the same gradient bit for bit") {
  for (const char* name : {"cnn", "resnet20", "resnet20-gn"}) {
    const ModelPackage model = package(name);
    const auto theta = initial_theta(model, 2);
    for (const std::size_t count : {1U, 6U}) {
      const Samples samples = random_samples(model.description, count);
      std::vector<float> alone(theta->size());
      const auto loss = trainer_of(model, GraphChoice::kFused)->gradient(*theta, samples.batch(), alone);
      ASSERT_OK(loss);
      for (const int threads : {2, 3, 4}) {
        std::vector<float> gradient(theta->size());
        const auto same =
            trainer_of(model, GraphChoice::kFused, threads)->gradient(*theta, samples.batch(), gradient);
        ASSERT_OK(same);
        TEST_ASSERT_TRUE_MESSAGE(*same == *loss && gradient == alone, name);
      }
    }
  }
}

TEST("Following the gradient lowers the loss") {
  const ModelPackage model = package("cnn");
  const auto trainer = trainer_of(model);
  auto theta = *initial_theta(model, 2);
  const Samples samples = random_samples(model.description, 16);
  std::vector<float> gradient(theta.size());
  const float before = *trainer->gradient(theta, samples.batch(), gradient);
  for (int step = 0; step < 20; ++step) {
    ASSERT_OK(trainer->gradient(theta, samples.batch(), gradient));
    for (std::size_t i = 0; i < theta.size(); ++i) theta[i] -= 0.05F * gradient[i];
  }
  TEST_ASSERT_TRUE(*trainer->gradient(theta, samples.batch(), gradient) < before - 0.1F);
}

TEST("Predictions do not depend on the number of threads or on what else is in the batch") {
  const ModelPackage model = package("cnn");
  const auto one = trainer_of(model);
  const auto two = trainer_of(model, GraphChoice::kFastest, 2);
  const auto theta = *initial_theta(model, 2);
  const Samples samples = random_samples(model.description, 6);
  std::vector<float> all(60);
  std::vector<float> threaded(60);
  std::vector<float> alone(10);
  ASSERT_OK(one->predict(theta, samples.features, 6, all));
  ASSERT_OK(two->predict(theta, samples.features, 6, threaded));
  ASSERT_OK(one->predict(theta, std::span(samples.features).first(784), 1, alone));
  for (std::size_t i = 0; i < 60; ++i) TEST_ASSERT_FLOAT_WITHIN(1e-5F, all[i], threaded[i]);
  for (std::size_t i = 0; i < 10; ++i) TEST_ASSERT_FLOAT_WITHIN(1e-5F, all[i], alone[i]);
}

TEST(
    "Vectors of the wrong size, an empty batch and a label that is not a class are refused by name and "
    "number") {
  const ModelPackage model = package("cnn");
  const auto trainer = trainer_of(model);
  const auto theta = *initial_theta(model, 2);
  Samples samples = random_samples(model.description, 2);
  std::vector<float> gradient(theta.size());
  const auto message = [&](std::span<const float> t, const Batch& batch, std::span<float> g) {
    return testing::message_of(trainer->gradient(t, batch, g));
  };
  ASSERT_CONTAINS(message(std::span(theta).first(7), samples.batch(), gradient),
                  "theta has 7 numbers, this model needs 139960");
  ASSERT_CONTAINS(message(theta, samples.batch(), std::span(gradient).first(3)),
                  "the gradient buffer has 3 numbers");
  ASSERT_CONTAINS(message(theta, {}, gradient), "the batch is empty");
  Batch short_batch = samples.batch();
  short_batch.features = short_batch.features.first(100);
  ASSERT_CONTAINS(message(theta, short_batch, gradient), "x has 100 numbers, this model needs 1568");
  samples.labels[1] = 10;
  ASSERT_CONTAINS(message(theta, samples.batch(), gradient), "y[1] is 10, this model has the classes 0 to 9");
  samples.labels[1] = -1;
  ASSERT_CONTAINS(message(theta, samples.batch(), gradient), "y[1] is -1");
}

TEST("A fused graph that a package does not have, and zero threads, are refused") {
  ModelPackage model = package("cnn");
  ASSERT_CONTAINS(testing::message_of(make_onnx_trainer(runtime(), model, {.threads = 0})), "threads is 0");
  model.fused_train_graph.clear();
  ASSERT_CONTAINS(testing::message_of(make_onnx_trainer(runtime(), model, {.graph = GraphChoice::kFused})),
                  "no fused training graph");
}

TEST("A graph that is not an ONNX file is an error of the run, with the runtime's reason") {
  ModelPackage model = package("logistic-regression");
  model.fused_train_graph = "not a graph";
  const auto theta = *initial_theta(model, 1);
  const Samples samples = random_samples(model.description, 1);
  const auto trainer = trainer_of(model);
  std::vector<float> gradient(theta.size());
  ASSERT_CONTAINS(testing::message_of(trainer->gradient(theta, samples.batch(), gradient)),
                  "refused a graph");
}
