#include <cmath>

#include "core/aggregation/aggregator.h"
#include "core/base/random.h"
#include "tests/core/aggregation/guards/guards.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

constexpr std::size_t kDimension = 9;

std::vector<float> around(const std::vector<float>& centre, Random& random) {
  std::vector<float> g = centre;
  for (float& v : g) v += static_cast<float>(random.normal()) * 0.6F;
  return g;
}

/// Submits `count` updates of seeded clients, some of them on older versions.
std::vector<Verdict> run(Aggregator& to, Random& random, int count) {
  std::vector<Verdict> verdicts;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t delay = std::min<std::uint64_t>(random.below(4), to.model().version());
    const auto g = around(std::vector<float>(kDimension, 1), random);
    verdicts.push_back(to.submit({random.below(5), to.model().version() - delay, g}).value());
  }
  return verdicts;
}

}  // namespace

TEST("The reference is computed before updates 0, tau_s, 2 tau_s, ... whatever their verdict") {
  FixedReference source({1});
  AggregatorOptions options;
  options.learning_rate = 1;
  options.reference_interval = 3;
  Aggregator guard(options, make(aflguard_kind(), 1), &source, std::vector<float>{0});
  const std::vector<float> good = {1};
  const std::vector<float> bad = {50};
  for (const auto& [g, computed] : std::vector<std::pair<const std::vector<float>*, int>>{
           {&good, 1}, {&bad, 1}, {&bad, 1}, {&good, 2}, {&good, 2}, {&good, 2}, {&bad, 3}}) {
    TEST_ASSERT_TRUE(guard.submit({1, 0, *g}).ok());
    TEST_ASSERT_EQUAL_INT(computed, source.computed);
  }
  TEST_ASSERT_EQUAL_UINT64(7, guard.iteration());
}

TEST("Asking for the reference early does not compute it twice") {
  FixedReference source({1});
  Aggregator guard = aggregator(make(aflguard_kind(), 1), source, {0});
  TEST_ASSERT_EQUAL_FLOAT(1, guard.reference().value()->vector[0]);
  (void)guard.submit({1, 0, std::vector<float>{1}});
  TEST_ASSERT_EQUAL_INT(1, source.computed);
}

TEST("Wrong sizes, versions from the future and stale updates are verdicts and change nothing") {
  FixedReference source({1, 1});
  AggregatorOptions options;
  options.learning_rate = 1;
  options.max_delay = 1;
  Aggregator guard(options, make(aflguard_kind(), 2), &source, std::vector<float>{0, 0});
  const std::vector<float> g = {1, 1};
  const std::vector<float> wrong = {1, 1, 1};
  TEST_ASSERT_EQUAL(Reason::kWrongSize, guard.submit({1, 0, wrong}).value().reason);
  TEST_ASSERT_EQUAL(Reason::kUnknownVersion, guard.submit({1, 1, g}).value().reason);
  TEST_ASSERT_TRUE(guard.submit({1, 0, g}).value().accepted);
  TEST_ASSERT_TRUE(guard.submit({1, 0, g}).value().accepted);
  const Verdict stale = guard.submit({1, 0, g}).value();
  TEST_ASSERT_EQUAL(Reason::kTooOld, stale.reason);
  TEST_ASSERT_EQUAL_UINT64(2, stale.delay);
  TEST_ASSERT_EQUAL_UINT64(2, guard.model().version());
}

TEST("A filter that needs base models refuses updates whose base is no longer kept") {
  FixedReference source({1});
  AggregatorOptions options;
  options.learning_rate = 1;
  options.history = 1;
  Aggregator kardam(options, make(kardam_kind(), 1, 100), &source, std::vector<float>{0});
  const std::vector<float> g = {1};
  for (int i = 0; i < 2; ++i) {
    TEST_ASSERT_TRUE(kardam.submit({1, kardam.model().version(), g}).value().accepted);
  }
  TEST_ASSERT_EQUAL(Reason::kTooOld, kardam.submit({2, 0, g}).value().reason);
}

TEST("A restored aggregator gives the same verdicts and the same model, bit for bit, for every guard") {
  std::size_t stepped = 0;  // guards that changed the model
  for (const GuardKind& kind : all_guards()) {
    FixedReference source(std::vector<float>(kDimension, 1));
    Aggregator original = aggregator(make(kind, kDimension, 5), source, std::vector<float>(kDimension), 0.01);
    Random random(42);
    (void)run(original, random, 77);
    const auto bytes = original.save();
    Aggregator copy = aggregator(make(kind, kDimension, 5), source, std::vector<float>(kDimension), 0.01);
    ASSERT_OK(copy.restore(bytes));
    TEST_ASSERT_TRUE_MESSAGE(copy.save() == bytes, kind.name.data());
    Random same = random;
    TEST_ASSERT_TRUE(run(original, random, 77) == run(copy, same, 77));
    stepped += original.model().version() > 0 ? 1 : 0;
    TEST_ASSERT_TRUE(original.save() == copy.save());
  }
  TEST_ASSERT_TRUE(stepped >= 7);
}

TEST(
    "The reference update may be kept apart: both parts give the same aggregator, and must belong together") {
  for (const GuardKind& kind : all_guards()) {
    FixedReference source(std::vector<float>(kDimension, 1));
    const auto fresh = [&] {
      return aggregator(make(kind, kDimension, 5), source, std::vector<float>(kDimension), 0.01);
    };
    Aggregator original = fresh();
    Random random(42);
    (void)run(original, random, 20);
    const auto older = original.save_reference();
    (void)run(original, random, 57);
    const auto state = original.save_without_reference();
    const auto reference = original.save_reference();
    Aggregator copy = fresh();
    ASSERT_OK(copy.restore(state, reference));
    TEST_ASSERT_TRUE_MESSAGE(copy.save() == original.save(), kind.name.data());
    if (reference.empty()) continue;  // this guard needs none
    TEST_ASSERT_TRUE(state.size() + kDimension * sizeof(float) <= original.save().size());
    Aggregator target = fresh();
    TEST_ASSERT_TRUE(target.restore(state).error().kind == ErrorKind::kCorrupt);
    TEST_ASSERT_TRUE(target.restore(state, older).error().kind == ErrorKind::kCorrupt);
    for (std::size_t length = 0; length < reference.size(); ++length) {
      TEST_ASSERT_FALSE(target.restore(state, std::span(reference).first(length)).ok());
    }
  }
}

TEST("State that is cut short, too long, of another guard or another size is refused and changes nothing") {
  for (const GuardKind& kind : all_guards()) {
    FixedReference source(std::vector<float>(kDimension, 1));
    Aggregator original = aggregator(make(kind, kDimension, 5), source, std::vector<float>(kDimension), 0.01);
    Random random(7);
    (void)run(original, random, 20);
    const auto bytes = original.save();
    Aggregator target = aggregator(make(kind, kDimension, 5), source, std::vector<float>(kDimension), 0.01);
    const auto untouched = target.save();
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      const auto status = target.restore(std::span(bytes).first(length));
      TEST_ASSERT_FALSE(status.ok());
      TEST_ASSERT_EQUAL(ErrorKind::kCorrupt, status.error().kind);
    }
    auto longer = bytes;
    longer.push_back(std::byte{0});
    TEST_ASSERT_FALSE(target.restore(longer).ok());
    Aggregator wider =
        aggregator(make(kind, kDimension + 1, 5), source, std::vector<float>(kDimension + 1), 0.01);
    TEST_ASSERT_FALSE(wider.restore(bytes).ok());
    for (const GuardKind& other : all_guards()) {
      if (other.name != kind.name) {
        Aggregator foreign =
            aggregator(make(other, kDimension, 5), source, std::vector<float>(kDimension), 0.01);
        TEST_ASSERT_FALSE(foreign.restore(bytes).ok());
      }
    }
    TEST_ASSERT_TRUE(untouched == target.save());
  }
}

TEST("Flipping any one byte of a saved state never crashes and never lets a non-finite number in") {
  for (const GuardKind& kind : all_guards()) {
    FixedReference source(std::vector<float>(kDimension, 1));
    Aggregator original = aggregator(make(kind, kDimension, 5), source, std::vector<float>(kDimension), 0.01);
    Random random(7);
    (void)run(original, random, 20);
    auto bytes = original.save();
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      const std::byte good = bytes[at];
      bytes[at] ^= std::byte{0xFF};
      Aggregator target = aggregator(make(kind, kDimension, 5), source, std::vector<float>(kDimension), 0.01);
      if (target.restore(bytes).ok()) {
        for (const float v : target.model().parameters()) TEST_ASSERT_TRUE(std::isfinite(v));
      }
      bytes[at] = good;
    }
  }
}
