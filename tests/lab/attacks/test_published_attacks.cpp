#include "core/aggregation/aggregator.h"
#include "core/aggregation/guards/all_guards.h"
#include "lab/attacks/craft/honest_updates.h"
#include "lab/attacks/craft/strongest_update.h"
#include "tests/lab/attacks/attack_scene.h"

using namespace aflguard;
using namespace aflguard::lab;
using namespace aflguard::testing;

namespace {

/// The honest updates that an attack of this scene sees in its next turn.
std::vector<std::vector<float>> seen_next(Scene& scene) {
  Random copy = scene.random;
  HonestClients clients(scene.data, scene.settings.batch_size, scene.trainer, 0.5);
  AllKnowingView view(clients, scene.honest, scene.theta, copy);
  HonestUpdates honest(8);
  const auto seen = honest.look(view, 100).value();
  return {seen.begin(), seen.end()};
}

double squared_gap(const std::vector<float>& a, const std::vector<float>& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += std::pow(static_cast<double>(a[i]) - b[i], 2);
  return squares;
}

}  // namespace

TEST("A little is enough: the paper's z deviations below the honest mean") {
  Scene scene;
  const Moments moments = moments_of(seen_next(scene));
  const auto crafted = scene.craft("alie");
  // 10 devices, 2 malicious: 4 honest ones must be won over, so (8 - 4) / 8 of a normal distribution: z = 0.
  for (std::size_t i = 0; i < 100; ++i) TEST_ASSERT_DOUBLE_WITHIN(1e-3, moments.mean[i], crafted[i]);
  Scene chosen({{"z", 1.5}});
  const Moments again = moments_of(seen_next(chosen));
  const auto further = chosen.craft("alie");
  for (std::size_t i = 0; i < 100; ++i) {
    TEST_ASSERT_DOUBLE_WITHIN(1e-3, again.mean[i] - 1.5 * again.deviation[i], further[i]);
  }
}

TEST("Inner product manipulation is minus half the honest mean") {
  Scene scene;
  const Moments moments = moments_of(seen_next(scene));
  const auto crafted = scene.craft("ipm");
  for (std::size_t i = 0; i < 100; ++i) TEST_ASSERT_DOUBLE_WITHIN(1e-3, -moments.mean[i] / 2, crafted[i]);
}

TEST("Min-Max touches the largest distance between honest updates, Min-Sum the largest sum") {
  for (const double push : {0.0, 1.0, 2.0}) {
    for (const bool sums : {false, true}) {
      Scene scene({{"push", push}});
      const auto seen = seen_next(scene);
      const auto crafted = scene.craft(sums ? "min-sum" : "min-max");
      double bound = 0;
      double reached = 0;
      for (const auto& a : seen) {
        double total = 0;
        for (const auto& b : seen) {
          total += squared_gap(a, b);
          if (!sums) bound = std::max(bound, squared_gap(a, b));
        }
        if (sums) bound = std::max(bound, total);
        const double gap = squared_gap(a, crafted);
        reached = sums ? reached + gap : std::max(reached, gap);
      }
      TEST_ASSERT_DOUBLE_WITHIN(1e-3, 1, reached / bound);
    }
  }
}

TEST("Mimic answers as the same honest client every time") {
  Scene scene;
  const auto attack = scene.make("mimic");
  (void)scene.craft(*attack);
  for (int turn = 0; turn < 3; ++turn) {
    Random before = scene.random;
    const auto crafted = scene.craft(*attack);
    std::size_t alike = 0;
    for (const ClientId client : scene.honest) {
      Random copy = before;
      std::vector<float> own(100);
      HonestClients clients(scene.data, scene.settings.batch_size, scene.trainer, 0.5);
      ASSERT_OK(clients.update_of(client, scene.theta, copy, own));
      if (own == crafted) ++alike;
    }
    TEST_ASSERT_EQUAL_size_t(1, alike);
  }
}

TEST("PoisonedFL keeps its signs, and shrinks when the model does not follow") {
  Scene scene({{"every", 2}});
  const auto attack = scene.make("poisoned-fl");
  const auto first = scene.craft(*attack);
  const double length = std::sqrt(squared_norm(first));
  std::vector<float> last;
  for (int turn = 0; turn < 12; ++turn) {
    scene.theta[static_cast<std::size_t>(turn)] += 1e-3F;  // moves, but not along the signs
    last = scene.craft(*attack);
    for (std::size_t i = 0; i < 100; ++i) TEST_ASSERT_TRUE(first[i] * last[i] >= 0);
  }
  TEST_ASSERT_TRUE(std::sqrt(squared_norm(last)) < length / 3);
}

TEST("The sleeper sends its honest update ten times, then turns it around") {
  Scene scene({{"answers", 2}, {"factor", 4}});
  const auto attack = scene.make("sleeper");
  for (int turn = 0; turn < 4; ++turn) {
    const auto honest = scene.honest_update();
    const auto crafted = scene.craft(*attack);
    for (std::size_t i = 0; i < 100; ++i) {
      TEST_ASSERT_EQUAL_FLOAT(turn < 2 ? honest[i] : -4 * honest[i], crafted[i]);
    }
  }
}

TEST("An attacker of the oldest base is judged at the largest delay, whatever the schedule drew") {
  auto settings = default_settings("synthetic").value();
  settings.clients = 4;
  settings.malicious = 1;
  settings.iterations = 40;
  settings.attack = "oldest-base";
  settings.guard = "asyncsgd";
  const auto oldest = run_experiment(settings, full_catalog(), linear_model(), nullptr).value();
  settings.attack = "gd";
  settings.attack_options = {{"factor", 1}};
  const auto drawn = run_experiment(settings, full_catalog(), linear_model(), nullptr).value();
  TEST_ASSERT_TRUE(*oldest.metrics.mee != *drawn.metrics.mee);
  settings.client_delay = 0;  // then there is no older one
  const auto fresh = run_experiment(settings, full_catalog(), linear_model(), nullptr).value();
  settings.attack = "oldest-base";
  settings.attack_options = {};
  TEST_ASSERT_TRUE(run_experiment(settings, full_catalog(), linear_model(), nullptr).value() == fresh);
}

TEST("A backdoor in masked coordinates leaves those alone that honest updates use most") {
  Scene scene({{"kept", 0.5}, {"scale", 1}});
  // Synthetic data has no class to aim at: only the mask is of interest.
  const auto attack = scene.make("masked-bd");
  const auto honest = scene.honest_update();
  const auto crafted = scene.craft(*attack);
  double kept = 0;
  double dropped = 1e30;
  std::size_t zeros = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    if (crafted[i] == 0) {
      ++zeros;
      dropped = std::min(dropped, std::fabs(static_cast<double>(honest[i])));
    } else {
      kept = std::max(kept, std::fabs(static_cast<double>(honest[i])));
    }
  }
  TEST_ASSERT_TRUE(zeros >= 45 && zeros <= 55);
  TEST_ASSERT_TRUE(kept <= dropped);
}

TEST("White-box attackers who shape their residual are accepted by SpanGuard") {
  for (const char* name : {"own-short", "own-weights", "own-noisy", "own-unseen", "own-bursts", "own-best"}) {
    auto settings = default_settings("synthetic").value();
    settings.clients = 10;
    settings.iterations = 200;
    settings.guard = "span-guard";
    settings.attack = name;
    const auto result = run_experiment(settings, full_catalog(), linear_model(), nullptr).value();
    TEST_ASSERT_TRUE_MESSAGE(result.accepted.malicious > 9 * result.rejected.malicious, name);
  }
}

TEST("The best of candidates does at least the harm of the one that is always sent") {
  auto settings = default_settings("synthetic").value();
  settings.clients = 20;
  settings.iterations = 600;
  settings.malicious = 0.4;
  settings.guard = "span-guard";
  const auto error = [&](const char* attack) {
    settings.attack = attack;
    return *run_experiment(settings, full_catalog(), linear_model(), nullptr).value().metrics.mee;
  };
  TEST_ASSERT_TRUE(error("own-best") > error("none"));
}
