#include <cmath>

#include "core/aggregation/aggregator.h"
#include "core/aggregation/guards/all_guards.h"
#include "core/aggregation/vectors/vector_kernels.h"
#include "datasets/synthetic.h"
#include "lab/attacks/all_attacks.h"
#include "lab/attacks/craft/strongest_update.h"
#include "lab/runs/all_knowing_view.h"
#include "tests/lab/attacks/attack_scene.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::lab;
using namespace aflguard::testing;

namespace {

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
  const auto honest = scene.honest_update();
  const auto crafted = scene.craft("gd");
  for (std::size_t i = 0; i < honest.size(); ++i) TEST_ASSERT_EQUAL_FLOAT(-10 * honest[i], crafted[i]);
}

TEST("At theta 0 flipped regression labels give exactly the negated honest update") {
  Scene scene;
  const auto honest = scene.honest_update();
  const auto crafted = scene.craft("lf");
  for (std::size_t i = 0; i < honest.size(); ++i) TEST_ASSERT_EQUAL_FLOAT(-honest[i], crafted[i]);
}

TEST("Gaussian noise has the announced deviation") {
  Scene scene({{"deviation", 7}});
  double squares = 0;
  for (int i = 0; i < 50; ++i) squares += squared_norm(scene.craft("gauss"));
  TEST_ASSERT_DOUBLE_WITHIN(0.3, 7, std::sqrt(squares / 5000));
}

TEST("The boundary attack is accepted by AFLGuard, barely, and points against the honest clients") {
  Scene scene;
  const auto crafted = scene.craft("adapt-boundary");
  TEST_ASSERT_DOUBLE_WITHIN(1e-4, 1.5, distance_to_reference(scene, crafted));
  TEST_ASSERT_TRUE(distance_to_reference(scene, crafted) <= 1.5);
  // At theta 0 honest updates point along -theta*.
  TEST_ASSERT_TRUE(cosine(crafted, scene.data.true_model) > 0.1);
}

TEST("The sign attack has one magnitude in all coordinates and touches AFLGuard's bound from inside") {
  Scene scene;
  const auto crafted = scene.craft("adapt-sign");
  for (const float v : crafted) TEST_ASSERT_EQUAL_FLOAT(std::abs(crafted[0]), std::abs(v));
  TEST_ASSERT_TRUE(std::abs(crafted[0]) > 0);
  TEST_ASSERT_DOUBLE_WITHIN(1e-4, 1.5, distance_to_reference(scene, crafted));
  TEST_ASSERT_TRUE(distance_to_reference(scene, crafted) <= 1.5);
}

TEST("With lambda under 1 the sign attack finds nothing that AFLGuard accepts and sends nothing") {
  Scene scene;
  scene.lambda = 0.5;
  for (const float v : scene.craft("adapt-sign")) TEST_ASSERT_EQUAL_FLOAT(0, v);
}

TEST("The reverse attack is 100 times longer than, and opposite to, the honest mean") {
  Scene scene;
  const auto crafted = scene.craft("adapt-reverse");
  TEST_ASSERT_TRUE(cosine(crafted, scene.data.true_model) > 0.5);
  TEST_ASSERT_TRUE(std::sqrt(squared_norm(crafted)) > 10 * std::sqrt(squared_norm(scene.honest_update())));
}

TEST("Fang's attack lies 3 to 4 deviations beyond the mean, on its other side") {
  Scene scene;
  std::vector<float> mean(100), deviation(100);
  Random copy = scene.random;
  HonestClients clients(scene.data, scene.settings.batch_size, scene.trainer, 0.5);
  AllKnowingView view(clients, scene.honest, scene.theta, copy);
  ASSERT_OK(view.honest_updates(8, mean, deviation));
  const auto crafted = scene.craft("adapt-fang");
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const double away = (mean[i] - crafted[i]) / deviation[i] * (mean[i] > 0 ? 1 : -1);
    TEST_ASSERT_TRUE(away > 2.999 && away < 4.001);
  }
}

TEST("Unknown attacks are named with the nearest that exists, and none is not an attack") {
  ASSERT_CONTAINS(message_of(find_attack(all_attacks(), "adapt-fong")), "did you mean 'adapt-fang'?");
  TEST_ASSERT_NULL(find_attack(all_attacks(), "none").value());
}

TEST("Against every guard the strongest update is accepted and moves the model where the attacker wants") {
  for (const char* name : {"asyncsgd", "zeno++", "aflguard", "span-guard"}) {
    Scene scene;
    AggregatorOptions options;
    options.learning_rate = 1e-4;
    TrustedSetReference source(scene.trainer, scene.data.trusted, 0.5, 16);
    auto guard = make_guard(*find_guard(all_guards(), name).value(), {.dimension = 100});
    Aggregator fleet(options, std::move(guard).value(), &source, scene.theta);
    HonestClients clients(scene.data, scene.settings.batch_size, scene.trainer, 0.5);
    for (std::size_t t = 0; t < 60; ++t) {  // everybody is known before the attack
      const ClientId client = scene.honest[t % scene.honest.size()];
      ASSERT_OK(clients.update_of(client, fleet.model().parameters(), scene.random, scene.update));
      (void)fleet.submit({client, fleet.model().version(), scene.update}).value();
    }
    std::vector<float> wish(100);
    for (float& v : wish) v = static_cast<float>(scene.random.normal());
    strongest_update(fleet.guard(), fleet.reference().value(), {}, wish, scene.update);
    const std::vector<float> before(fleet.model().parameters().begin(), fleet.model().parameters().end());
    TEST_ASSERT_TRUE_MESSAGE(fleet.submit({1, fleet.model().version(), scene.update}).value().accepted, name);
    double along = 0;
    for (std::size_t i = 0; i < wish.size(); ++i) {
      along += static_cast<double>(before[i] - fleet.model().parameters()[i]) * static_cast<double>(wish[i]);
    }
    TEST_ASSERT_TRUE_MESSAGE(along > 0, name);
  }
}
