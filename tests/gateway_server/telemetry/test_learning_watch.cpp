#include <cmath>

#include "gateway_server/telemetry/learning_watch.h"
#include "tests/support/test.h"

using namespace aflguard::gateway;

namespace {

void evaluate(GatewayCounters& counters, double error) {
  counters.test_error = error;
  ++counters.evaluations;
}

void refer(GatewayCounters& counters, double loss) {
  counters.reference_loss = loss;
  ++counters.references;
}

bool has(const LearningWatch& watch, std::string_view kind) {
  return watch.troubles().contains(kind);
}

}  // namespace

TEST("A model that learns, with an outlier now and then, is in order") {
  GatewayCounters counters;
  LearningWatch watch("");
  for (int i = 0; i < 50; ++i) {
    evaluate(counters, i % 10 == 9 ? 0.3 : 0.9 / (1 + i) + 0.05 + 0.01 * (i % 3));
    refer(counters, 2.3 / (1 + i) + 0.1 * (i % 3));
    TEST_ASSERT_FALSE(watch.follow(counters));
  }
  TEST_ASSERT_TRUE(watch.troubles().empty());
}

TEST("A test error that rises far above its best is trouble until it is back") {
  GatewayCounters counters;
  LearningWatch watch("");
  for (int i = 0; i < 5; ++i) {
    evaluate(counters, 0.05);
    TEST_ASSERT_FALSE(watch.follow(counters));
  }
  int found = 0;
  for (int i = 0; i < 5; ++i) {
    evaluate(counters, 0.4);
    found += watch.follow(counters) ? 1 : 0;
  }
  TEST_ASSERT_EQUAL_INT(1, found);  // told once
  TEST_ASSERT_TRUE(has(watch, LearningWatch::kRisingError));
  ASSERT_CONTAINS(watch.troubles().at(LearningWatch::kRisingError), "at best it was 0.05");
  for (int i = 0; i < 3; ++i) {
    evaluate(counters, 0.06);
    (void)watch.follow(counters);
  }
  TEST_ASSERT_TRUE(watch.troubles().empty());
}

TEST(
    "A loss on the trusted samples that runs away, or ceases to be a number, takes the reference its "
    "meaning") {
  for (const double loss : {40.0, static_cast<double>(INFINITY)}) {
    GatewayCounters counters;
    LearningWatch watch("");
    for (int i = 0; i < 4; ++i) refer(counters, 2.3), (void)watch.follow(counters);
    for (int i = 0; i < 3; ++i) refer(counters, loss), (void)watch.follow(counters);
    TEST_ASSERT_TRUE(has(watch, LearningWatch::kReference));
    ASSERT_CONTAINS(watch.troubles().at(LearningWatch::kReference), "learning_rate");
  }
}

TEST("Counters that stand still are not measured twice, and after a change of settings all begins again") {
  GatewayCounters counters;
  LearningWatch watch("[trusted] has one sample");
  TEST_ASSERT_TRUE(has(watch, LearningWatch::kTrustedSet));
  for (int i = 0; i < 3; ++i) evaluate(counters, 0.05), (void)watch.follow(counters);
  evaluate(counters, 0.9);
  for (int i = 0; i < 10; ++i) TEST_ASSERT_FALSE(i > 0 && watch.follow(counters));
  watch.start_again();
  for (int i = 0; i < 5; ++i) {
    evaluate(counters, 0.9);
    (void)watch.follow(counters);
  }
  TEST_ASSERT_FALSE(has(watch, LearningWatch::kRisingError));
}
