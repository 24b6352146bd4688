#include <cmath>

#include "core/aggregation/guards/span_guard_2.h"
#include "core/aggregation/vectors/span_kernels.h"
#include "core/aggregation/vectors/vector_kernels.h"
#include "tests/core/aggregation/guards/span_fleet.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

constexpr std::size_t kNumbers = 400;

std::unique_ptr<Guard> second(std::uint64_t clients, const OptionValues& options = {}) {
  GuardSettings settings;
  settings.dimension = kNumbers;
  settings.clients = clients;
  settings.options = options;
  return make_guard(span_guard_2_kind(), settings).value();
}

/// A fleet under SpanGuard 2, and what its clients send.
struct Guarded {
  explicit Guarded(std::uint64_t clients, const OptionValues& options = {}, std::uint64_t seed = 3)
      : fleet(kNumbers, 3, seed),
        guard(with_rate(), second(clients, options), nullptr, std::vector<float>(kNumbers)),
        push(kNumbers) {
    ASSERT_OK(guard.install_reference(fleet.reference(), 0));
    for (float& v : push) v = static_cast<float>(fleet.random.normal());
  }

  /// An honest update whose residual is replaced by the push and a little noise.
  std::vector<float> pushing() {
    std::vector<float> g = push;
    for (float& v : g) v += static_cast<float>(0.3 * fleet.random.normal());
    return g;
  }

  Fleet fleet;
  Aggregator guard;
  std::vector<float> push;
};

double moved_along(const Guarded& scene, const std::vector<float>& before) {
  double along = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    along += static_cast<double>(before[i] - scene.guard.model().parameters()[i]) *
             static_cast<double>(scene.push[i]);
  }
  return along;
}

}  // namespace

TEST("A sketch is linear and keeps inner products, give or take") {
  Random random(4);
  std::vector<float> a(20011), b(20011);
  for (float& v : a) v = static_cast<float>(random.normal());
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = 0.5F * a[i] + static_cast<float>(random.normal());
  const auto x = sketch_of(a, 77);
  const auto y = sketch_of(b, 77);
  TEST_ASSERT_EQUAL_size_t(kSketch, x.size());
  const double norms = std::sqrt(squared_norm(a) * squared_norm(b));
  TEST_ASSERT_DOUBLE_WITHIN(5.0 / 32, dot_and_norm(a, b).dot / norms, dot_and_norm(x, y).dot / norms);
  TEST_ASSERT_DOUBLE_WITHIN(0.1, 1, squared_norm(x) / squared_norm(a));
  std::vector<float> sum(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) sum[i] = a[i] + b[i];
  const auto z = sketch_of(sum, 77);
  for (std::size_t i = 0; i < kSketch; ++i) TEST_ASSERT_FLOAT_WITHIN(1e-3F, x[i] + y[i], z[i]);
  TEST_ASSERT_TRUE(sketch_of(a, 78) != x);
}

TEST("Every number of a vector reaches exactly one place of its sketch, the last ones too") {
  for (const std::size_t length : {1U, 15U, 16U, 17U, 1023U, 1100U}) {
    for (std::size_t i = 0; i < length; i += 7) {
      std::vector<float> one(length);
      one[i] = 2;
      std::size_t places = 0;
      for (const float v : sketch_of(one, 5)) {
        if (v == 0) continue;
        TEST_ASSERT_EQUAL_FLOAT(2, std::fabs(v));
        ++places;
      }
      TEST_ASSERT_EQUAL_size_t(1, places);
    }
  }
}

TEST("Clients that push together are found out by their likeness and move the model little") {
  Guarded scene(20);
  double first = 0;
  double last = 0;
  int alike = 0;
  for (int t = 0; t < 400; ++t) {
    const auto client = static_cast<ClientId>(t % 20);
    const bool malicious = client < 4;
    const auto before = parameters(scene.guard);
    const Verdict verdict = submit(scene.guard, client, malicious ? scene.pushing() : scene.fleet.honest());
    TEST_ASSERT_TRUE(verdict.accepted);
    if (!malicious) continue;
    (t < 20 ? first : last) = moved_along(scene, before);
    if (t >= 200 && (verdict.alterations & (kTooAlike | kAtOdds)) != 0) ++alike;
  }
  TEST_ASSERT_EQUAL_INT(40, alike);  // every malicious update of the second half
  TEST_ASSERT_TRUE(last < 0.2 * first);
}

TEST("Honest clients keep most of their updates while others push together") {
  Guarded scene(20);
  double shares = 0;
  int counted = 0;
  for (int t = 0; t < 400; ++t) {
    const auto client = static_cast<ClientId>(t % 20);
    const Verdict verdict = submit(scene.guard, client, client < 4 ? scene.pushing() : scene.fleet.honest());
    if (client < 4 || t < 200) continue;
    shares += 1 - verdict.altered;
    ++counted;
  }
  TEST_ASSERT_TRUE(shares / counted > 0.5);
}

TEST("Before half of the fleet has spoken, likeness does not shorten") {
  Guarded scene(40);
  for (int t = 0; t < 19; ++t) {
    const Verdict verdict = submit(scene.guard, static_cast<ClientId>(t), scene.pushing());
    TEST_ASSERT_EQUAL_UINT32(0, verdict.alterations & (kTooAlike | kAtOdds));
  }
}

TEST("The verdict says why a client was shortened") {
  Guarded scene(10);
  std::string said;
  for (int t = 0; t < 200; ++t) {
    const auto client = static_cast<ClientId>(t % 10);
    const Verdict verdict = submit(scene.guard, client, client < 2 ? scene.pushing() : scene.fleet.honest());
    if (client < 2) said = describe(verdict);
  }
  ASSERT_CONTAINS(said, "shortened: client ");
}

TEST("Saved and restored in the middle, SpanGuard 2 goes on bit by bit") {
  Guarded one(12);
  Guarded two(12);
  for (int t = 0; t < 150; ++t) {
    if (t % 10 == 0) {
      one.fleet.drift();
      ASSERT_OK(one.guard.install_reference(one.fleet.reference(), one.guard.iteration()));
      if (t > 73) ASSERT_OK(two.guard.install_reference(one.fleet.reference(), two.guard.iteration()));
    }
    if (t == 73) {
      const auto saved = one.guard.save();
      ASSERT_OK(two.guard.restore(saved));
      TEST_ASSERT_TRUE(two.guard.save() == saved);
    }
    const ClientId client = one.fleet.random.below(12);
    const auto g = client < 3 ? one.pushing() : one.fleet.honest();
    const Verdict verdict = submit(one.guard, client, g);
    if (t < 73) continue;
    TEST_ASSERT_TRUE(submit(two.guard, client, g) == verdict);
    TEST_ASSERT_TRUE(parameters(one.guard) == parameters(two.guard));
  }
}

TEST("Damaged state is refused and changes nothing") {
  Guarded scene(8);
  for (int t = 0; t < 40; ++t) (void)submit(scene.guard, static_cast<ClientId>(t % 8), scene.fleet.honest());
  auto guard = second(8);
  const auto saved = scene.guard.guard().save();
  ASSERT_OK(guard->restore(saved));
  for (std::size_t cut = 0; cut < saved.size(); cut += 997) {
    const auto before = guard->save();
    TEST_ASSERT_FALSE(guard->restore(std::span(saved).first(cut)).ok());
    TEST_ASSERT_TRUE(before == guard->save());
  }
  auto other = second(8, {{"panel", 4}});
  ASSERT_CONTAINS(message_of(other->restore(saved)), "too many clients");
}

TEST("More clients than the panel holds cost no more memory, and are compared all the same") {
  Guarded scene(300, {{"panel", 16}});
  const auto& rule = dynamic_cast<const SpanGuard2&>(scene.guard.guard());
  int shortened = 0;
  for (int t = 0; t < 900; ++t) {
    const auto client = static_cast<ClientId>(t % 300);
    const bool malicious = client % 5 == 0;
    const Verdict verdict = submit(scene.guard, client, malicious ? scene.pushing() : scene.fleet.honest());
    if (malicious && t >= 600 && (verdict.alterations & (kTooAlike | kAtOdds)) != 0) ++shortened;
  }
  TEST_ASSERT_EQUAL_size_t(16, rule.memories().clients());
  TEST_ASSERT_TRUE(shortened > 45);  // of 60, almost none of them remembered
}

TEST("A client that left is forgotten, and the others' medians with it") {
  Guarded scene(6);
  for (int t = 0; t < 60; ++t) (void)submit(scene.guard, static_cast<ClientId>(t % 6), scene.fleet.honest());
  const auto& rule = dynamic_cast<const SpanGuard2&>(scene.guard.guard());
  scene.guard.forget(2);
  scene.guard.forget(99);  // never seen: nothing happens
  TEST_ASSERT_EQUAL_size_t(5, rule.memories().clients());
  TEST_ASSERT_TRUE(submit(scene.guard, 2, scene.fleet.honest()).accepted);
  TEST_ASSERT_EQUAL_size_t(6, rule.memories().clients());
}

TEST("A copy of the guard judges as the guard does, and leaves it alone") {
  Guarded scene(6);
  for (int t = 0; t < 30; ++t) (void)submit(scene.guard, static_cast<ClientId>(t % 6), scene.fleet.honest());
  const auto before = scene.guard.guard().save();
  const auto copy = scene.guard.guard().copy();
  const auto g = scene.pushing();
  std::vector<float> next(kNumbers);
  Submission submission;
  submission.client = 1;
  submission.vector = g;
  submission.reference = scene.guard.installed_reference();
  submission.parameters = scene.guard.model().parameters();
  submission.next = next;
  submission.rate = static_cast<float>(kRate);
  const Decision tried = copy->judge(submission);
  TEST_ASSERT_TRUE(scene.guard.guard().save() == before);
  TEST_ASSERT_TRUE(submit(scene.guard, 1, g) == tried.verdict);
  TEST_ASSERT_TRUE(parameters(scene.guard) == next);
}

TEST("In a regression no client claims much more of the trusted gradient than the other clients do") {
  Fleet fleet(kNumbers, 1, 9);
  Aggregator guard(with_rate(), second(10), nullptr, std::vector<float>(kNumbers));
  ASSERT_OK(guard.install_reference(fleet.reference(), 0));
  int bounded = 0;
  for (int t = 0; t < 100; ++t) {
    const auto client = static_cast<ClientId>(t % 10);
    std::vector<float> g = fleet.honest();
    if (client == 0) {
      for (std::size_t i = 0; i < g.size(); ++i) g[i] += fleet.classes_[0][i];
    }
    const Verdict verdict = submit(guard, client, g);
    if (client == 0 && t >= 50 && (verdict.alterations & kWeightBounded) != 0) ++bounded;
  }
  TEST_ASSERT_EQUAL_INT(5, bounded);
}
