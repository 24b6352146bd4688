// FLTrust per update, and robust rules on buffers of updates.
#include <cmath>

#include "core/base/random.h"
#include "tests/core/aggregation/guards/guards.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

constexpr std::size_t kCoordinates = 20;

const GuardKind& kind(std::string_view name) {
  return *find_guard(all_guards(), name).value();
}

/// Ten updates near (1, 1, ...), the first three of which are replaced by `bad`; the model after them.
std::vector<float> after_a_buffer(std::string_view rule, float bad) {
  Random random(8);
  FixedReference source(std::vector<float>(kCoordinates, 1));
  Aggregator guarded =
      aggregator(make(kind(rule), kCoordinates), source, std::vector<float>(kCoordinates), 0.1);
  for (int k = 0; k < 10; ++k) {
    std::vector<float> g(kCoordinates);
    for (float& v : g) v = k < 3 ? bad : static_cast<float>(1 + 0.1 * random.normal());
    const Verdict verdict = submit(guarded, static_cast<ClientId>(k), g);
    TEST_ASSERT_EQUAL(k < 9 ? Reason::kBuffered : Reason::kAccepted, verdict.reason);
  }
  return {guarded.model().parameters().begin(), guarded.model().parameters().end()};
}

}  // namespace

TEST("FLTrust takes an update as long as the reference, weighted by the cosine with it") {
  FixedReference source({3, 0, 0});
  Aggregator guarded = aggregator(make(kind("fltrust"), 3), source, std::vector<float>(3), 0.5);
  const Verdict verdict = submit(guarded, 1, {4, 4, 0});
  TEST_ASSERT_TRUE(verdict.accepted);
  TEST_ASSERT_DOUBLE_WITHIN(1e-6, std::sqrt(0.5), verdict.distance);
  // cosine * 3 along (1, 1) / sqrt(2), times the rate
  TEST_ASSERT_FLOAT_WITHIN(1e-5F, -0.75F, guarded.model().parameters()[0]);
  TEST_ASSERT_FLOAT_WITHIN(1e-5F, -0.75F, guarded.model().parameters()[1]);
  TEST_ASSERT_EQUAL(Reason::kAgainstReference, submit(guarded, 1, {-1, 5, 0}).reason);
}

TEST("A full buffer moves the model once, by as many updates as it held") {
  for (const float v : after_a_buffer("fedbuff", 1)) TEST_ASSERT_FLOAT_WITHIN(0.15F, -1, v);
}

TEST("Three of ten updates far away move a robust rule's model hardly at all, and the mean's with them") {
  for (const float v : after_a_buffer("fedbuff", -100)) TEST_ASSERT_TRUE(v > 20);
  for (const char* rule : {"fedbuff-krum", "fedbuff-trimmed", "fedbuff-nnm"}) {
    for (const float bad : {-100.0F, 100.0F}) {
      for (const float v : after_a_buffer(rule, bad)) TEST_ASSERT_FLOAT_WITHIN(0.3F, -1, v);
    }
  }
  for (const float v : after_a_buffer("fedbuff-clip", -100)) TEST_ASSERT_TRUE(v < 1 && v > -1.5F);
}

TEST("Buffered rules save and restore a half-full buffer, and refuse another rule's") {
  for (const char* rule : {"fedbuff", "fedbuff-krum", "fedbuff-trimmed", "fedbuff-clip", "fedbuff-nnm"}) {
    FixedReference source(std::vector<float>(kCoordinates, 1));
    Aggregator one = aggregator(make(kind(rule), kCoordinates), source, std::vector<float>(kCoordinates));
    Aggregator two = aggregator(make(kind(rule), kCoordinates), source, std::vector<float>(kCoordinates));
    Random random(3);
    for (int k = 0; k < 25; ++k) {
      std::vector<float> g(kCoordinates);
      for (float& v : g) v = static_cast<float>(random.normal());
      const Verdict verdict = submit(one, 1, g);
      if (k < 14) continue;
      if (k == 14) ASSERT_OK(two.restore(one.save()));
      if (k > 14) TEST_ASSERT_TRUE(submit(two, 1, g) == verdict);
    }
    TEST_ASSERT_TRUE(std::equal(one.model().parameters().begin(), one.model().parameters().end(),
                                two.model().parameters().begin()));
    const auto other =
        make(kind(rule == std::string_view("fedbuff") ? "fedbuff-krum" : "fedbuff"), kCoordinates);
    ASSERT_CONTAINS(message_of(other->restore(one.guard().save())), "another rule");
  }
}
