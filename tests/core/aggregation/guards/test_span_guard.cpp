#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tests/core/aggregation/guards/guards.h"
#include "tests/core/aggregation/guards/plain_span_guard.h"
#include "tests/core/aggregation/guards/span_fleet.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

std::unique_ptr<Guard> trusting(std::size_t dimension, std::uint64_t clients, double trust) {
  GuardSettings settings;
  settings.dimension = dimension;
  settings.clients = clients;
  settings.options = {{"trust", trust}};
  return make_guard(span_guard_kind(), settings).value();
}

void compare_with_plain_rule(bool trust) {
  constexpr std::size_t kDimension = 61;
  Fleet fleet(kDimension, 4, 1);
  Aggregator guard(with_rate(), trusting(kDimension, 12, trust ? 1 : 0), nullptr,
                   std::vector<float>(kDimension));
  PlainSpanGuard plain(kDimension, kRate, 12, trust);
  int altered = 0;
  int rejected = 0;
  for (int t = 0; t < 400; ++t) {
    if (t % 10 == 0) {
      fleet.drift();
      ASSERT_OK(guard.install_reference(fleet.reference(), guard.iteration()));
      plain.reference(fleet.classes_);
    }
    const ClientId client = fleet.random.below(9);
    std::vector<float> g = fleet.honest();
    if (client == 0) g = times(g, trust ? 4 : -4);  // long, and against everybody
    if (client == 1 && !trust) g = times(g, -1);
    if (client == 1 && trust) {  // takes away more of a class than there can be
      for (std::size_t i = 0; i < kDimension; ++i) g[i] -= fleet.classes_[0][i];
    }
    const Verdict verdict = submit(guard, client, g);
    const PlainVerdict expected = plain.judge(client, g);
    TEST_ASSERT_EQUAL(expected.accepted, verdict.accepted);
    TEST_ASSERT_DOUBLE_WITHIN(1e-4, expected.length, verdict.distance);
    TEST_ASSERT_DOUBLE_WITHIN(1e-4, expected.bound, verdict.bound);
    TEST_ASSERT_DOUBLE_WITHIN(2e-2, expected.altered, verdict.altered);
    altered += verdict.alterations != 0 ? 1 : 0;
    rejected += verdict.accepted ? 0 : 1;
    for (std::size_t i = 0; i < kDimension; ++i) {
      TEST_ASSERT_DOUBLE_WITHIN(2e-3, plain.theta[i], guard.model().parameters()[i]);
    }
  }
  TEST_ASSERT_TRUE(altered > 50);
  TEST_ASSERT_TRUE(rejected > 10);
}

}  // namespace

TEST("SpanGuard follows its rule as written out plainly in double, update by update") {
  compare_with_plain_rule(false);
}

TEST("So it does when it believes residuals by the honesty of what is seen") {
  compare_with_plain_rule(true);
}

TEST("A residual longer than three medians is rejected, with its length and the bound") {
  Fleet fleet(40, 3, 2);
  Aggregator guard(with_rate(), make(span_guard_kind(), 40), nullptr, std::vector<float>(40));
  ASSERT_OK(guard.install_reference(fleet.reference(), 0));
  for (ClientId client = 0; client < 20; ++client) {
    TEST_ASSERT_TRUE(submit(guard, client, fleet.honest()).accepted);
  }
  const auto before = parameters(guard);
  const Verdict verdict = submit(guard, 3, times(fleet.honest(), -10));
  TEST_ASSERT_FALSE(verdict.accepted);
  TEST_ASSERT_EQUAL(Reason::kResidualTooLong, verdict.reason);
  TEST_ASSERT_TRUE(verdict.distance > verdict.bound && verdict.bound > 10);
  TEST_ASSERT_TRUE(before == parameters(guard));
  ASSERT_CONTAINS(describe(verdict), "residual-too-long: ");
}

TEST("Nobody can claim more of a class than a batch holds, nor send the model uphill along it") {
  Fleet fleet(40, 3, 3);
  Aggregator guard(with_rate(), make(span_guard_kind(), 40), nullptr, std::vector<float>(40));
  ASSERT_OK(guard.install_reference(fleet.reference(), 0));
  const Verdict uphill = submit(guard, 1, times(fleet.classes_[0], -100));
  TEST_ASSERT_TRUE(uphill.accepted);
  TEST_ASSERT_TRUE((uphill.alterations & kMixtureClipped) != 0);
  TEST_ASSERT_TRUE(uphill.altered > 0.99);
  // At most -0.05 of the class is left (and of the others what the ridge spills): next to nothing of -100.
  double moved = 0;
  for (const float v : guard.model().parameters()) moved += static_cast<double>(v) * static_cast<double>(v);
  double length = 0;
  for (const float v : fleet.classes_[0]) length += static_cast<double>(v) * static_cast<double>(v);
  TEST_ASSERT_TRUE(std::sqrt(moved) <= kRate * 0.2 * std::sqrt(length));
  const Verdict greedy = submit(guard, 1, times(fleet.classes_[0], 100));
  TEST_ASSERT_TRUE(greedy.accepted && greedy.altered > 0.98);
  ASSERT_CONTAINS(describe(greedy), "class mixture clipped");
}

TEST("The verdict's share of alteration is what the model really missed") {
  Fleet fleet(200, 3, 4);
  Aggregator guard(with_rate(), make(span_guard_kind(), 200), nullptr, std::vector<float>(200));
  ASSERT_OK(guard.install_reference(fleet.reference(), 0));
  int checked = 0;
  for (int t = 0; t < 60; ++t) {
    const auto before = parameters(guard);
    const auto g = times(fleet.honest(), t % 3 == 0 ? 1.5F : 1.0F);
    const Verdict verdict = submit(guard, static_cast<ClientId>(t % 7), g);
    if (!verdict.accepted) continue;
    double missed = 0;
    double length = 0;
    for (std::size_t i = 0; i < g.size(); ++i) {
      const double applied =
          (static_cast<double>(before[i]) - static_cast<double>(guard.model().parameters()[i])) / kRate;
      missed += (static_cast<double>(g[i]) - applied) * (static_cast<double>(g[i]) - applied);
      length += static_cast<double>(g[i]) * static_cast<double>(g[i]);
    }
    TEST_ASSERT_DOUBLE_WITHIN(5e-3, std::sqrt(missed / length), verdict.altered);
    ++checked;
  }
  TEST_ASSERT_TRUE(checked > 50);
}

TEST("A direction that one client alone keeps sending is bent back to what the others say") {
  Fleet fleet(100, 2, 5);
  Aggregator guard(with_rate(), make(span_guard_kind(), 100), nullptr, std::vector<float>(100));
  ASSERT_OK(guard.install_reference(fleet.reference(), 0));
  std::vector<float> fixed(100);
  for (float& v : fixed) v = static_cast<float>(fleet.random.normal());
  int bent = 0;
  for (int t = 0; t < 200; ++t) {
    const ClientId client = static_cast<ClientId>(t % 10);
    const Verdict verdict = submit(guard, client, client == 0 ? fixed : fleet.honest());
    if (client == 0 && t > 100) bent += verdict.alterations >= kDirectionBent ? 1 : 0;
  }
  TEST_ASSERT_EQUAL_INT(9, bent);  // every time
}

TEST("A client that left no longer votes") {
  Fleet fleet(40, 2, 6);
  Aggregator guard(with_rate(), make(span_guard_kind(), 40), nullptr, std::vector<float>(40));
  ASSERT_OK(guard.install_reference(fleet.reference(), 0));
  for (ClientId client = 0; client < 3; ++client) (void)submit(guard, client, fleet.honest());
  for (ClientId client = 10; client < 20; ++client) (void)submit(guard, client, times(fleet.honest(), 1e-3F));
  TEST_ASSERT_FALSE(submit(guard, 1, fleet.honest()).accepted);  // the median is tiny
  for (ClientId client = 10; client < 20; ++client) guard.forget(client);
  guard.forget(99);  // never seen: nothing happens
  TEST_ASSERT_TRUE(submit(guard, 1, fleet.honest()).accepted);
}

TEST("While few have voted, nobody's residual moves the model further than the trusted set's own scale") {
  Fleet fleet(60, 3, 12);
  Aggregator guard(with_rate(), make(span_guard_kind(), 60, 10), nullptr, std::vector<float>(60));
  const ReferenceUpdate reference = fleet.reference();
  const VisibleSpan span(reference.gram);
  ASSERT_OK(guard.install_reference(reference, 0));
  // The first to speak are malicious devices, and they agree with each other.
  for (ClientId malicious = 0; malicious < 4; ++malicious) {
    const Verdict verdict = submit(guard, malicious, times(fleet.honest(), 1000));
    TEST_ASSERT_FALSE(verdict.accepted);
    TEST_ASSERT_DOUBLE_WITHIN(1e-3, 3 * span.typical_length(), verdict.bound);
  }
  for (ClientId client = 4; client < 10; ++client) {
    TEST_ASSERT_TRUE(submit(guard, client, fleet.honest()).accepted);
  }
  TEST_ASSERT_FALSE(submit(guard, 1, times(fleet.honest(), 100)).accepted);  // 6 of 10 outvote them
}

TEST("When most of a fleet has spoken several times, it is not waited for those who never do") {
  Fleet fleet(60, 3, 14);
  Aggregator guard(with_rate(), make(span_guard_kind(), 60, 10), nullptr, std::vector<float>(60));
  const auto& rule = dynamic_cast<const SpanGuard&>(guard.guard());
  ASSERT_OK(guard.install_reference(fleet.reference(), 0));
  for (int time = 0; time < 5; ++time) {
    for (ClientId client = 0; client < 5; ++client) (void)submit(guard, client, fleet.honest());
  }
  TEST_ASSERT_FALSE(rule.quorate());  // half of the fleet is not enough, however often it speaks
  (void)submit(guard, 5, fleet.honest());
  TEST_ASSERT_TRUE(rule.quorate());
  guard.forget(4);
  TEST_ASSERT_FALSE(rule.quorate());
}

TEST("With trust, a client that lies about the classes is believed less about the rest") {
  Fleet fleet(80, 3, 13);
  Aggregator guard(with_rate(), trusting(80, 30, 1), nullptr, std::vector<float>(80));
  ASSERT_OK(guard.install_reference(fleet.reference(), 0));
  for (ClientId client = 0; client < 30; ++client) (void)submit(guard, client, fleet.honest());
  const auto distance_of = [&](const std::vector<float>& g) {
    const auto before = parameters(guard);
    TEST_ASSERT_TRUE(submit(guard, 5, g).accepted);
    double squares = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const double moved = static_cast<double>(before[i]) - static_cast<double>(parameters(guard)[i]);
      squares += moved * moved;
    }
    return std::sqrt(squares) / kRate;
  };
  auto honest = fleet.honest();
  const double far = distance_of(honest);
  TEST_ASSERT_TRUE(distance_of(times(honest, -1)) < 0.25 * far);
}

TEST("Saved and restored in the middle, SpanGuard goes on bit by bit") {
  constexpr std::size_t kDimension = 50;
  Fleet fleet(kDimension, 3, 7);
  Aggregator one(with_rate(), make(span_guard_kind(), kDimension), nullptr, std::vector<float>(kDimension));
  Aggregator two(with_rate(), make(span_guard_kind(), kDimension), nullptr, std::vector<float>(kDimension));
  for (int t = 0; t < 150; ++t) {
    if (t % 10 == 0) {
      fleet.drift();
      ASSERT_OK(one.install_reference(fleet.reference(), one.iteration()));
      if (t > 73) ASSERT_OK(two.install_reference(fleet.reference(), two.iteration()));
    }
    if (t == 73) {
      const auto saved = one.save();
      const Status restored = two.restore(saved);
      TEST_ASSERT_TRUE(restored.ok());
      TEST_ASSERT_TRUE(two.save() == saved);
    }
    const ClientId client = fleet.random.below(12);
    const auto g = fleet.honest();
    const Verdict verdict = submit(one, client, g);
    if (t < 73) continue;
    TEST_ASSERT_TRUE(submit(two, client, g) == verdict);
    TEST_ASSERT_TRUE(parameters(one) == parameters(two));
  }
}

TEST("More clients than the panel holds cost no more, and still bend who strays") {
  Fleet fleet(30, 2, 8);
  GuardSettings settings;
  settings.dimension = 30;
  settings.options = {{"panel", 16}};
  auto guard = make_guard(span_guard_kind(), settings).value();
  const auto& span_guard = dynamic_cast<const SpanGuard&>(*guard);
  Aggregator aggregator(with_rate(), std::move(guard), nullptr, std::vector<float>(30));
  ASSERT_OK(aggregator.install_reference(fleet.reference(), 0));
  for (ClientId client = 0; client < 300; ++client) (void)submit(aggregator, client, fleet.honest());
  TEST_ASSERT_EQUAL_UINT64(16, span_guard.panel().clients());
  TEST_ASSERT_EQUAL_UINT64(300, span_guard.lengths().size());
}

TEST("An update of astronomical size is refused before it can leave a trace") {
  Fleet fleet(30, 2, 9);
  Aggregator guard(with_rate(), make(span_guard_kind(), 30), nullptr, std::vector<float>(30));
  ASSERT_OK(guard.install_reference(fleet.reference(), 0));
  const Verdict verdict = submit(guard, 1, std::vector<float>(30, 1e38F));
  TEST_ASSERT_EQUAL(Reason::kOverflow, verdict.reason);
  TEST_ASSERT_TRUE(submit(guard, 1, fleet.honest()).accepted);
}

TEST("A reference without classes is refused for a guard that looks at them") {
  Aggregator guard(with_rate(), make(span_guard_kind(), 3), nullptr, std::vector<float>(3));
  ReferenceUpdate reference;
  reference.vector.assign(3, 1);
  reference.derive();
  const Status installed = guard.install_reference(reference, 0);
  TEST_ASSERT_FALSE(installed.ok());
  ASSERT_CONTAINS(installed.error().message, "span-guard");
}
