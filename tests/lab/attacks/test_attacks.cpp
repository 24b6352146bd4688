#include <cmath>

#include "core/aggregation/aggregator.h"
#include "core/aggregation/vectors/vector_kernels.h"
#include "datasets/synthetic.h"
#include "lab/attacks/attacks.h"
#include "lab/attacks/strongest_update.h"
#include "tests/lab/catalog.h"
#include "tests/lab/linear_trainer.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::lab;
using namespace aflguard::testing;

namespace {

/// Ten clients on synthetic data, the first two malicious, and a reference at theta = 0.
struct Scene {
  ExperimentSettings settings = default_settings("synthetic").value();
  ExperimentData data;
  std::vector<ClientId> benign = {2, 3, 4, 5, 6, 7, 8, 9};
  LinearTrainer trainer{100};
  Random random{5};
  std::vector<float> theta = std::vector<float>(100);
  std::vector<float> update = std::vector<float>(100);
  ReferenceUpdate reference;

  explicit Scene(const OptionValues& options = {}) {
    settings.clients = 10;
    settings.attack_options = options;
    data = prepare_data(settings, nullptr).value();
    TrustedSetReference source(trainer, data.trusted, 0.5);
    TEST_ASSERT_TRUE(source.compute(theta, 0, reference).ok());
  }

  std::vector<float> craft(const AttackKind& kind) {
    AttackerView view(settings, data, benign, trainer, 0.5, random);
    view.client = 1;
    view.base_model = theta;
    view.reference = &reference;
    const auto attack = kind.make(settings);
    TEST_ASSERT_TRUE(attack->craft(view, update).ok());
    return update;
  }

  std::vector<float> honest() {
    Random copy = random;
    AttackerView view(settings, data, benign, trainer, 0.5, copy);
    view.base_model = theta;
    TEST_ASSERT_TRUE(view.honest_update(1, update).ok());
    return update;
  }
};

double distance_to_reference(const Scene& scene, const std::vector<float>& g) {
  return std::sqrt(squared_distance(g, scene.reference.vector)) / scene.reference.norm;
}

double cosine(std::span<const float> a, std::span<const float> b) {
  const auto [dot, norm] = dot_and_norm(a, b);
  return dot / std::sqrt(norm * squared_norm(b));
}

}  // namespace

TEST("Gradient deviation is -10 times the honest update of the same batch") {
  Scene scene;
  const auto honest = scene.honest();
  const auto crafted = scene.craft(gradient_deviation_kind());
  for (std::size_t i = 0; i < honest.size(); ++i) TEST_ASSERT_EQUAL_FLOAT(-10 * honest[i], crafted[i]);
}

TEST("At theta 0 flipped regression labels give exactly the negated honest update") {
  Scene scene;
  const auto honest = scene.honest();
  const auto crafted = scene.craft(label_flip_kind());
  for (std::size_t i = 0; i < honest.size(); ++i) TEST_ASSERT_EQUAL_FLOAT(-honest[i], crafted[i]);
}

TEST("Gaussian noise has the announced deviation") {
  Scene scene({{"deviation", 7}});
  double squares = 0;
  for (int i = 0; i < 50; ++i) squares += squared_norm(scene.craft(gauss_kind()));
  TEST_ASSERT_DOUBLE_WITHIN(0.3, 7, std::sqrt(squares / 5000));
}

TEST("The boundary attack is accepted by AFLGuard, barely, and points against the benign clients") {
  Scene scene;
  const auto crafted = scene.craft(adapt_boundary_kind());
  TEST_ASSERT_DOUBLE_WITHIN(1e-4, 1.5, distance_to_reference(scene, crafted));
  TEST_ASSERT_TRUE(distance_to_reference(scene, crafted) <= 1.5);
  // At theta 0 honest updates point along -theta*.
  TEST_ASSERT_TRUE(cosine(crafted, scene.data.true_model) > 0.1);
}

TEST("The sign attack has one magnitude in all coordinates and touches AFLGuard's bound from inside") {
  Scene scene;
  const auto crafted = scene.craft(adapt_sign_kind());
  for (const float v : crafted) TEST_ASSERT_EQUAL_FLOAT(std::abs(crafted[0]), std::abs(v));
  TEST_ASSERT_TRUE(std::abs(crafted[0]) > 0);
  TEST_ASSERT_DOUBLE_WITHIN(1e-4, 1.5, distance_to_reference(scene, crafted));
  TEST_ASSERT_TRUE(distance_to_reference(scene, crafted) <= 1.5);
}

TEST("With lambda under 1 the sign attack finds nothing that AFLGuard accepts and sends nothing") {
  Scene scene;
  scene.settings.lambda = 0.5;
  for (const float v : scene.craft(adapt_sign_kind())) TEST_ASSERT_EQUAL_FLOAT(0, v);
}

TEST("The reverse attack is 100 times longer than, and opposite to, the benign mean") {
  Scene scene;
  const auto crafted = scene.craft(adapt_reverse_kind());
  TEST_ASSERT_TRUE(cosine(crafted, scene.data.true_model) > 0.5);
  TEST_ASSERT_TRUE(std::sqrt(squared_norm(crafted)) > 10 * std::sqrt(squared_norm(scene.honest())));
}

TEST("Fang's attack lies 3 to 4 deviations beyond the mean, on its other side") {
  Scene scene;
  std::vector<float> mean(100), deviation(100);
  Random copy = scene.random;
  AttackerView view(scene.settings, scene.data, scene.benign, scene.trainer, 0.5, copy);
  view.base_model = scene.theta;
  ASSERT_OK(view.benign_updates(8, mean, deviation));
  const auto crafted = scene.craft(adapt_fang_kind());
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const double away = (mean[i] - crafted[i]) / deviation[i] * (mean[i] > 0 ? 1 : -1);
    TEST_ASSERT_TRUE(away > 2.999 && away < 4.001);
  }
}

TEST("Unknown attacks are named with the nearest that exists, and none is no attack") {
  const Catalog catalog = full_catalog();
  ASSERT_CONTAINS(message_of(find_attack(catalog.attacks, "adapt-fong")), "did you mean 'adapt-fang'?");
  TEST_ASSERT_NULL(find_attack(catalog.attacks, "none").value());
}

TEST("Against every guard the strongest update is accepted and moves the model where the attacker wants") {
  for (const GuardKind& kind :
       {async_sgd_kind(), zeno_plus_plus_kind(), aflguard_kind(), span_guard_kind()}) {
    Scene scene;
    GuardSettings guard_settings;
    guard_settings.dimension = 100;
    AggregatorOptions options;
    options.learning_rate = 1e-4;
    TrustedSetReference source(scene.trainer, scene.data.trusted, 0.5, 16);
    Aggregator aggregator(options, make_guard(kind, guard_settings).value(), &source, scene.theta);
    for (int t = 0; t < 60; ++t) {  // everybody is known before the attack
      AttackerView view(scene.settings, scene.data, scene.benign, scene.trainer, 0.5, scene.random);
      view.base_model = aggregator.model().parameters();
      const ClientId client = scene.benign[static_cast<std::size_t>(t) % scene.benign.size()];
      ASSERT_OK(view.honest_update(client, scene.update));
      (void)aggregator.submit({client, aggregator.model().version(), scene.update}).value();
    }
    std::vector<float> wish(100);
    for (float& v : wish) v = static_cast<float>(scene.random.normal());
    strongest_update(aggregator.guard(), aggregator.reference().value(), scene.settings, wish, scene.update);
    const std::vector<float> before(aggregator.model().parameters().begin(),
                                    aggregator.model().parameters().end());
    TEST_ASSERT_TRUE_MESSAGE(
        aggregator.submit({1, aggregator.model().version(), scene.update}).value().accepted,
        kind.name.data());
    double along = 0;
    for (std::size_t i = 0; i < wish.size(); ++i) {
      along +=
          static_cast<double>(before[i] - aggregator.model().parameters()[i]) * static_cast<double>(wish[i]);
    }
    TEST_ASSERT_TRUE_MESSAGE(along > 0, kind.name.data());
  }
}
